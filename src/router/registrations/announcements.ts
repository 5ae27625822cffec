// The engine's own events: functions and workers changed.
//
// A change is announced at the end of its turn. Further changes wait until 250 ms after the last announcement, so a
// worker that registers a thousand functions causes a handful of events. Where many connections watch many functions,
// an announcement takes long, and the next one waits longer: the limit is a tenth of the time of the thread.

import type { Access } from '../../core/access/access.ts';
import { asRawJson, type RawJson, rawJson } from '../../protocol/json/byte-string.ts';
import type { Announcements, RouterContext, WorkerEvent } from '../context.ts';
import { fireTrigger } from '../triggers/fire-trigger.ts';
import { functionRow } from './rows.ts';

export const FUNCTIONS_AVAILABLE = 'engine::functions-available';
export const WORKERS_AVAILABLE = 'engine::workers-available';

const FUNCTIONS_EVENT_INTERVAL_MS = 250;
/** The time until the next announcement, as a multiple of the time that the last one took. */
const REST_FACTOR = 10;

export function createAnnouncements(contextOf: () => RouterContext): Announcements {
  let isPending = false;
  let nextMs = Number.NEGATIVE_INFINITY;
  return {
    functionsChanged() {
      if (isPending) return;
      isPending = true;
      const { clock } = contextOf();
      const announce = (): void => {
        isPending = false;
        const beganMs = clock.monotonicMs();
        announceFunctions(contextOf());
        const restMs = REST_FACTOR * (clock.monotonicMs() - beganMs);
        nextMs = beganMs + Math.max(FUNCTIONS_EVENT_INTERVAL_MS, restMs);
      };
      const waitMs = nextMs - clock.monotonicMs();
      if (waitMs > 0) clock.after(waitMs, announce);
      else clock.afterTurn(announce);
    },
    modulesChanged() {
      for (const listener of contextOf().moduleListeners) listener();
    },
    workerEvent(event: WorkerEvent, workerId: string, depth = 0) {
      const context = contextOf();
      context.workerChanges++;
      for (const listener of context.workerListeners) listener(workerId);
      if (context.triggers.bindingsOf(WORKERS_AVAILABLE).size === 0) return;
      const worker = context.sessions.get(workerId);
      const payload = rawJson({ event, worker_id: workerId });
      const payloadFor = (rights: Access | undefined): RawJson | undefined =>
        rights === undefined || [...(worker?.functions ?? [])].some((id) => rights.mayReach(id)) ? payload : undefined;
      fireTrigger(context, WORKERS_AVAILABLE, payloadFor, { depth, seenBy: 'this engine' });
    },
  };
}

function announceFunctions(context: RouterContext): void {
  for (const listener of context.functionListeners) listener();
  if (context.triggers.bindingsOf(FUNCTIONS_AVAILABLE).size === 0) return;
  // Each row is written once, for all connections that may see the function.
  const rows = [...context.functions.all()]
    .filter(({ kind }) => kind === 'worker')
    .map((entry) => ({ id: entry.id, text: rawJson(functionRow(context, entry)) }));
  const payloadFor = (rights: Access | undefined): RawJson => {
    const seen = rights === undefined ? rows : rows.filter(({ id }) => rights.mayReach(id));
    return asRawJson(`{"event":"functions_changed","functions":[${seen.map(({ text }) => text).join(',')}]}`);
  };
  fireTrigger(context, FUNCTIONS_AVAILABLE, payloadFor, { depth: 0, seenBy: 'all engines' });
}
