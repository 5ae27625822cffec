// The engine's own events: functions and workers changed.
//
// A change is announced at the end of its turn. Further changes wait until 250 ms after the last announcement, so a
// worker that registers a thousand functions causes a handful of events.

import type { Access } from '../../core/access/access.ts';
import { type RawJson, rawJson } from '../../protocol/json/byte-string.ts';
import type { Announcements, RouterContext, WorkerEvent } from '../context.ts';
import { fireTrigger } from '../triggers/fire-trigger.ts';
import { functionRow } from './rows.ts';

export const FUNCTIONS_AVAILABLE = 'engine::functions-available';
export const WORKERS_AVAILABLE = 'engine::workers-available';

const FUNCTIONS_EVENT_INTERVAL_MS = 250;

export function createAnnouncements(contextOf: () => RouterContext): Announcements {
  let isPending = false;
  let lastAnnouncedMs = Number.NEGATIVE_INFINITY;
  return {
    functionsChanged() {
      if (isPending) return;
      isPending = true;
      const { clock } = contextOf();
      const announce = (): void => {
        isPending = false;
        lastAnnouncedMs = clock.monotonicMs();
        announceFunctions(contextOf());
      };
      const waitMs = lastAnnouncedMs + FUNCTIONS_EVENT_INTERVAL_MS - clock.monotonicMs();
      if (waitMs > 0) clock.after(waitMs, announce);
      else clock.afterTurn(announce);
    },
    workerEvent(event: WorkerEvent, workerId: string, depth = 0) {
      const context = contextOf();
      context.workerChanges++;
      if (context.triggers.bindingsOf(WORKERS_AVAILABLE).size === 0) return;
      const worker = context.sessions.get(workerId);
      const payload = rawJson({ event, worker_id: workerId });
      const payloadFor = (rights: Access | undefined): RawJson | undefined =>
        rights === undefined || [...(worker?.functions ?? [])].some((id) => rights.mayReach(id)) ? payload : undefined;
      fireTrigger(context, WORKERS_AVAILABLE, payloadFor, depth);
    },
  };
}

function announceFunctions(context: RouterContext): void {
  for (const listener of context.functionListeners) listener();
  if (context.triggers.bindingsOf(FUNCTIONS_AVAILABLE).size === 0) return;
  const payloadFor = (rights: Access | undefined): RawJson => {
    const functions = [...context.functions.all()]
      .filter((entry) => entry.kind === 'worker' && (rights === undefined || rights.mayReach(entry.id)))
      .map((entry) => functionRow(context, entry));
    return rawJson({ event: 'functions_changed', functions });
  };
  fireTrigger(context, FUNCTIONS_AVAILABLE, payloadFor, 0);
}
