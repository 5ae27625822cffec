// What the module needs of whatever remembers the ticks that were run (CR1).

export interface Tick {
  /** Of the trigger: equal for replicas and over restarts. */
  readonly trigger: string;
  /** The scheduled moment, Unix milliseconds. */
  readonly atMs: number;
  /** Whether it comes right behind the tick that was looked at before. */
  readonly follows: boolean;
}

/** For each tick whether it may run now; or why nobody knows. */
export type ClaimOutcome =
  | { readonly ok: true; readonly won: readonly boolean[] }
  | { readonly ok: false; readonly reason: string };

export interface TickClaims {
  readonly trouble: string | undefined;
  start(): Promise<void>;
  stop(): void;
  /** For health. */
  facts(): Readonly<Record<string, unknown>>;
  /** A trigger is there. `done` is told up to when its ticks were looked at before; undefined if it is new. */
  open(trigger: string, done: (settledMs: number | undefined) => void): void;
  /** Claims each tick at most once, ever and everywhere; a claim is durable before `done` is called. */
  claim(ticks: readonly Tick[], done: (outcome: ClaimOutcome) => void): void;
  /** The trigger was taken back. */
  release(trigger: string): void;
}
