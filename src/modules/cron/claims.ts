// What the module needs from the store of ticks that were run (CR1).

export interface Tick {
  /** The key of the trigger: equal for replicas and across restarts. */
  readonly trigger: string;
  /** The scheduled moment, Unix milliseconds. */
  readonly atMs: number;
  /** Whether it directly follows the tick that was settled before. */
  readonly follows: boolean;
}

/** For each tick whether it may run now; or why that is unknown. */
export type ClaimOutcome =
  | { readonly ok: true; readonly won: readonly boolean[] }
  | { readonly ok: false; readonly reason: string };

export interface TickClaims {
  readonly trouble: string | undefined;
  start(): Promise<void>;
  stop(): void;
  /** For health. */
  facts(): Readonly<Record<string, unknown>>;
  /** Opens a trigger. `done` receives the time up to which its ticks are settled; undefined if the trigger is new. */
  open(trigger: string, done: (settledMs: number | undefined) => void): void;
  /** Claims each tick at most once, forever and across engines; a claim is durable before `done` is called. */
  claim(ticks: readonly Tick[], done: (outcome: ClaimOutcome) => void): void;
  /** The trigger was unregistered. */
  release(trigger: string): void;
}
