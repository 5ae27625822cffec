// From when on stored traces and logs are complete, which of them are kept longer, and the setting that keeps more.
// Lists and pages show it where they end earlier than they were asked for.

export interface Retention {
  /** Everything later is stored, unless sampling left it out. */
  whole_since_ms: number;
  /** Errors, and the slowest traces of each function, are stored from here on. Null: nothing has left yet. */
  kept_since_ms: number | null;
  /** The setting of svc-observability that keeps more. */
  setting: string;
  /** Its present value; null: it is not set. */
  value: number | null;
  /** Whether some are never stored, because of sampling. */
  is_sampled: boolean;
}

/** The same for a person, in sentences. */
export function explainRetention(
  kind: 'traces' | 'logs',
  { whole_since_ms, kept_since_ms, setting, value, is_sampled }: Retention,
  timeOf: (unixMs: number) => string,
): string[] {
  const longer = kind === 'traces' ? 'Those with errors and the slowest of each function' : 'Warnings and errors';
  const since = timeOf(whole_since_ms);
  return [
    is_sampled
      ? `Sampling leaves some ${kind} out; all others since ${since} are stored.`
      : `All ${kind} since ${since} are stored.`,
    ...(kept_since_ms !== null && kept_since_ms < whole_since_ms
      ? [`${longer} are kept longer: since ${timeOf(kept_since_ms)}.`]
      : []),
    value === null
      ? `The engine started then; with ${setting} of svc-observability it keeps them over a restart.`
      : `To keep more, raise ${setting} of svc-observability (now ${value}).`,
  ];
}

/** An engine of the cluster that gave no answer: what it has is missing in the answer for all. */
export interface MissingEngine {
  readonly engine: string;
  readonly reason: string;
}
