// A moment, in the format that is chosen for all pages. Hovering shows the other formats and the raw value (APP-8).
// Ages follow one clock, which is updated once a second and does not run in a hidden tab.

import { Copy } from 'lucide-react';
import { type ReactNode, useRef } from 'react';
import { preferences } from '../../data/preferences.ts';
import { createStore, useStore } from '../../data/store.ts';
import { copyText } from '../inputs/copy.tsx';
import { HoverCard, useHover } from '../layout/overlays.tsx';
import { formatAge, formatLocal, formatTime, formatUtc } from './times.ts';

const now = createStore(Date.now());
setInterval(() => {
  if (!document.hidden) now.set(Date.now());
}, 1_000);
document.addEventListener('visibilitychange', () => now.set(Date.now()));

export function useNow(): number {
  return useStore(now);
}

export interface TimeProps {
  readonly ms: number;
  /** Nanosecond digits, where the moment is known that precisely. */
  readonly nanos?: string | undefined;
  readonly className?: string;
}

export function Time({ ms, nanos, className }: TimeProps): ReactNode {
  const { time } = useStore(preferences);
  const nowMs = useNow();
  const hover = useHover();
  const shown = useRef<HTMLTimeElement>(null);
  return (
    <>
      <time
        ref={shown}
        dateTime={new Date(ms).toISOString()}
        className={className ?? 'whitespace-nowrap'}
        {...hover.handlers}
      >
        {formatTime(ms, time, nowMs)}
      </time>
      {hover.isOpen && (
        <HoverCard label="Moment" anchor={shown} hover={hover}>
          <dl className="grid grid-cols-[auto_1fr] gap-x-4 gap-y-1">
            <Row name="Age" value={formatAge(ms, nowMs)} />
            <Row name="Local" value={formatLocal(ms)} />
            <Row name="UTC" value={formatUtc(ms)} />
            <Row name="Nanoseconds" value={nanos ?? `${ms}000000`} copy />
          </dl>
        </HoverCard>
      )}
    </>
  );
}

function Row({
  name,
  value,
  copy,
}: {
  readonly name: string;
  readonly value: string;
  readonly copy?: true;
}): ReactNode {
  return (
    <>
      <dt className="text-muted">{name}</dt>
      <dd className="flex items-center gap-1 font-mono">
        {value}
        {copy && (
          <button
            type="button"
            aria-label="Copy nanoseconds"
            className="rounded-sm p-0.5 text-faint hover:text-text"
            onClick={() => void copyText(value, 'nanoseconds')}
          >
            <Copy size={12} />
          </button>
        )}
      </dd>
    </>
  );
}
