// What the navigation shows next to the names of pages: counts that are cheap, and recent trouble (APP-6).

import { useCounters } from '../data/counters.ts';

export interface NavFact {
  readonly count?: number | undefined;
  /** In words. Shown as a red mark. */
  readonly trouble?: string | undefined;
}

export function useNavFacts(): Readonly<Record<string, NavFact | undefined>> {
  const { latest } = useCounters();
  if (latest === undefined) return {};
  const { functions, triggers, workers, queues, streams, dead_letters, triggers_in_error } = latest;
  return {
    Functions: { count: functions },
    Triggers: { count: triggers, trouble: triggers_in_error > 0 ? `${triggers_in_error} in error` : undefined },
    Queues: {
      count: queues ?? undefined,
      trouble: dead_letters !== null && dead_letters > 0 ? `${dead_letters} dead letters` : undefined,
    },
    Streams: { count: streams ?? undefined },
    Workers: { count: workers },
  };
}
