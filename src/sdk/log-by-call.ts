// Logs by calling the engine's log functions: for pages, which send no telemetry of their own.

import { Void } from './actions.ts';
import { parseTraceparent } from './baggage.ts';
import type { LoggerLevel, LogScope } from './logger.ts';
import { isRecord } from './record.ts';
import type { SvcWorker } from './svc-worker.ts';

export function logByCall(
  worker: Pick<SvcWorker, 'trigger' | 'name'>,
  level: LoggerLevel,
  message: string,
  data: unknown,
  scope: LogScope | undefined,
): void {
  const ids = parseTraceparent(scope?.traceparent);
  const payload = {
    message: String(message),
    data: isRecord(data) || data === undefined ? data : { data },
    service_name: scope?.functionId ?? worker.name,
    ...ids,
  };
  // Whatever stands in the way of a record, a cycle in it among the rest, costs that record.
  worker.trigger({ function_id: `engine::log::${level}`, payload, action: Void() }).catch(() => {});
}
