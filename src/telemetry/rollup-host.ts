// The inside of the thread that rolls metrics up: a million points take a second, which must not delay other work.

import { Refusal, readPayload } from '../core/calls/refusal.ts';
import { ROLLUP_LEVELS, RollupStore } from '../core/telemetry/metrics/rollup.ts';
import { validateRollupsList } from '../generated/telemetry-payloads.ts';
import { answerWith } from './answer.ts';
import { ROLLUPS_LIST, type TelemetryAnswers } from './functions/definition.ts';
import { answerForAll } from './functions/merge.ts';
import { optionalNumber, timeRange } from './functions/payloads.ts';
import { type AskAnswer, type Merging, NUMBER_LENGTH, type RollupDrops, type RollupPoints } from './tasks.ts';

const HOUR_MS = 3_600_000;

export class RollupHost {
  readonly #nowMs: () => number;
  readonly #store: RollupStore;
  #drops: Record<string, number> = {};

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
    this.#store = new RollupStore((reason) => {
      const name = `rollup_${reason}`;
      this.#drops[name] = (this.#drops[name] ?? 0) + 1;
    });
  }

  /** Returns what was left out since the last call. */
  add({ names, numbers, histograms }: RollupPoints): RollupDrops {
    const nowMs = this.#nowMs();
    this.#store.expire(nowMs);
    for (let at = 0; at < numbers.length; at += NUMBER_LENGTH) {
      const name = names[numbers[at] ?? 0] ?? '';
      this.#store.addNumber(name, numbers[at + 1] ?? 0, numbers[at + 2] ?? 0, nowMs);
    }
    for (const { name, timeMs, counts } of histograms) this.#store.addHistogram(name, timeMs, counts, nowMs);
    const drops = this.#drops;
    this.#drops = {};
    return drops;
  }

  ask(payload: Uint8Array | undefined, merging: Merging | undefined): AskAnswer {
    const nowMs = this.#nowMs();
    this.#store.expire(nowMs);
    const run = (given: unknown) => list(this.#store, given, nowMs);
    return answerWith(ROLLUPS_LIST, payload, (given) =>
      merging?.parts === undefined
        ? run(given)
        : answerForAll(ROLLUPS_LIST, given, run, merging.parts, merging.missing),
    );
  }
}

/** Of the last hour, and of minutes, unless the payload asks for something else. */
function list(store: RollupStore, given: unknown, nowMs: number): TelemetryAnswers['engine::rollups::list'] {
  const payload = readPayload(ROLLUPS_LIST, validateRollupsList, given);
  const { startTime, endTime } = timeRange(payload);
  const level = levelOf(payload.level);
  const query = {
    level,
    startTime: startTime ?? (endTime ?? nowMs) - HOUR_MS,
    endTime: endTime ?? nowMs,
    name: payload.metric_name ?? undefined,
  };
  return {
    ...store.list(query),
    level,
    query: { start_time: query.startTime, end_time: query.endTime, metric_name: payload.metric_name ?? null },
    timestamp: nowMs,
  };
}

function levelOf(given: number | null | undefined): 0 | 1 | 2 {
  const level = optionalNumber('level', given, { min: 0, max: ROLLUP_LEVELS.length - 1, isWhole: true }) ?? 0;
  if (level === 0 || level === 1 || level === 2) return level;
  throw new Refusal('BAD_REQUEST', `'level' must be 0, 1 or 2, found ${level}`);
}
