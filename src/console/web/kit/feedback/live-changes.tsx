// Changes that live data bring. Assistive technology is notified politely, and once in five seconds (ACC-4); sighted
// users read the values on the page. Above a held list, a button counts the new rows that wait (LIV-3, LIV-4).

import { type ReactNode, useEffect, useRef, useState } from 'react';
import { formatCount } from '../charts/times.ts';
import { Button } from '../inputs/button.tsx';

const GAP_MS = 5_000;

export function Announce({ text }: { readonly text: string }): ReactNode {
  const [said, setSaid] = useState(text);
  const saidAtMs = useRef(Number.NEGATIVE_INFINITY);
  useEffect(() => {
    if (text === said) return;
    const say = (): void => {
      saidAtMs.current = performance.now();
      setSaid(text);
    };
    const waitMs = saidAtMs.current + GAP_MS - performance.now();
    if (waitMs <= 0) return say();
    const timer = setTimeout(say, waitMs);
    return () => clearTimeout(timer);
  }, [text, said]);
  return (
    <span role="status" className="sr-only">
      {said}
    </span>
  );
}

export interface WaitingProps {
  readonly count: number;
  readonly dropped: number;
  readonly release: () => void;
}

export function Waiting({ count, dropped, release }: WaitingProps): ReactNode {
  if (count === 0) return undefined;
  return (
    <div className="pointer-events-none absolute inset-x-0 top-2 z-20 flex justify-center">
      <Button look="primary" className="pointer-events-auto rounded-full shadow-float" onClick={release}>
        Jump to newest (+{formatCount(count)}){dropped > 0 && `, ${formatCount(dropped)} dropped while paused`}
      </Button>
    </div>
  );
}
