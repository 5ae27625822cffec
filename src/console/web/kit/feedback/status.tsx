// A state as word, shape and colour together, never one of them alone (ACC-2).

import type { ReactNode } from 'react';
import { classes } from '../layout/classes.ts';

export type Tone = 'good' | 'warn' | 'bad' | 'busy' | 'idle';

const COLOURS: Readonly<Record<Tone, string>> = {
  good: 'text-good',
  warn: 'text-warn',
  bad: 'text-bad',
  busy: 'text-accent',
  idle: 'text-muted',
};

/** Filled circle, triangle, square, ring with a core, ring: distinguishable without colour. */
const SHAPES: Readonly<Record<Tone, ReactNode>> = {
  good: <circle cx="5" cy="5" r="4" fill="currentColor" />,
  warn: <path d="M5 .8 9.6 9H.4Z" fill="currentColor" />,
  bad: <rect x="1" y="1" width="8" height="8" rx="1.5" fill="currentColor" />,
  busy: (
    <>
      <circle cx="5" cy="5" r="3.75" fill="none" stroke="currentColor" strokeWidth="1.5" />
      <circle cx="5" cy="5" r="1.6" fill="currentColor" />
    </>
  ),
  idle: <circle cx="5" cy="5" r="3.5" fill="none" stroke="currentColor" strokeWidth="1.5" />,
};

export function Shape({ tone }: { readonly tone: Tone }): ReactNode {
  return (
    <svg aria-hidden="true" viewBox="0 0 10 10" className={classes('size-2.5 shrink-0', COLOURS[tone])}>
      {SHAPES[tone]}
    </svg>
  );
}

export interface StatusProps {
  readonly tone: Tone;
  readonly word: string;
  /** A longer text, on hover. */
  readonly title?: string | undefined;
}

export function Status({ tone, word, title }: StatusProps): ReactNode {
  return (
    <span className="inline-flex min-w-0 items-center gap-1.5 whitespace-nowrap" title={title}>
      <Shape tone={tone} />
      <span className={classes('truncate', tone === 'good' || tone === 'idle' ? 'text-text' : COLOURS[tone])}>
        {word}
      </span>
    </span>
  );
}

/** The states of the engine, as every page writes them: with a capital. */
const TONES: Readonly<Record<string, Tone>> = {
  active: 'good',
  available: 'good',
  healthy: 'good',
  ok: 'good',
  done: 'good',
  up: 'good',
  busy: 'busy',
  running: 'busy',
  pending: 'busy',
  connected: 'idle',
  inactive: 'idle',
  unset: 'idle',
  disabled: 'idle',
  draining: 'warn',
  degraded: 'warn',
  retrying: 'warn',
  disconnected: 'bad',
  error: 'bad',
  unreachable: 'bad',
  unhealthy: 'bad',
  dead: 'bad',
};

export function WordStatus({ word, title }: { readonly word: string; readonly title?: string | undefined }): ReactNode {
  const tone = TONES[word.toLowerCase()] ?? 'idle';
  const shown = word === 'ok' ? 'OK' : word.charAt(0).toUpperCase() + word.slice(1);
  return <Status tone={tone} word={shown} title={title} />;
}

interface BadgeProps {
  readonly children: ReactNode;
  readonly tone?: Tone;
  readonly title?: string;
}

export function Badge({ children, tone = 'idle', title }: BadgeProps): ReactNode {
  const grounds: Readonly<Record<Tone, string>> = {
    good: 'bg-good-soft text-good',
    warn: 'bg-warn-soft text-warn',
    bad: 'bg-bad-soft text-bad',
    busy: 'bg-accent-soft text-accent',
    idle: 'bg-raised text-muted',
  };
  return (
    <span
      title={title}
      className={classes(
        'inline-flex h-[18px] shrink-0 items-center rounded-sm px-1.5 text-xs font-medium whitespace-nowrap',
        grounds[tone],
      )}
    >
      {children}
    </span>
  );
}
