// What the cron module and its store tell each other, and what is kept of a trigger.

import type { ClaimedTicks } from './claimed-ticks.ts';

export interface CronRecord {
  /** Since when the trigger has been there without being taken back; Unix milliseconds. */
  sinceMs: number;
  /** When it was taken back: what is due until it returns is nobody's. */
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
  /** Up to when its ticks were looked at before; null for a trigger that is new, or was away. */
  settledMs: number | null;
}
