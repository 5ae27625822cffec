// The messages between the cron module and its store, and the record that is kept of a trigger.

import type { ClaimedTicks } from './claimed-ticks.ts';

export interface CronRecord {
  /** Since when the trigger has existed without interruption; Unix milliseconds. */
  sinceMs: number;
  /** When it was removed: ticks that are due until it returns are not run. */
  releasedMs?: number | undefined;
  claimed: ClaimedTicks;
}

/** A trigger and a tick of it. */
export interface TickInput {
  trigger: string;
  atMs: number;
  /** See `claimTick`. */
  follows: boolean;
}

export interface ClaimInput {
  ticks: TickInput[];
}

export interface ClaimAnswer {
  won: boolean[];
}

export interface TriggerInput {
  trigger: string;
}

export interface OpenAnswer {
  /** The time up to which its ticks were checked before; null for a trigger that is new, or was away. */
  settledMs: number | null;
}
