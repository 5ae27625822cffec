// Writes logs with calls of the engine's log functions: for pages, which send no telemetry of their own.

import { isRecord } from '../../protocol/json/record.ts';
import { Void } from '../calls/actions.ts';
import { parseTraceparent } from '../calls/trace-context.ts';
import type { LoggerLevel, LogScope, ObservedWorker } from './telemetry.ts';

export function logByCall(
  { name, trigger }: ObservedWorker,
  level: LoggerLevel,
  message: string,
  data: unknown,
  scope: LogScope | undefined,
): void {
  const ids = parseTraceparent(scope?.traceparent);
  const payload = {
    message: String(message),
    data: isRecord(data) || data === undefined ? data : { data },
    service_name: scope?.functionId ?? name,
    ...ids,
  };
  // A record that cannot be sent, for example because of a cycle, is lost.
  trigger({ function_id: `engine::log::${level}`, payload, action: Void() }).catch(() => {});
}
