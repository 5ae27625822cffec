// Announces changing values to assistive technology: politely, and at most once in five seconds (ACC-4). Sighted users
// read them on the page.

import { type ReactNode, useEffect, useRef, useState } from 'react';

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
