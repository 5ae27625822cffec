// A log record as a row of the console.

import type { LogRow } from '../../../console-api/telemetry.ts';
import type { ListedLog } from '../facts/answers.ts';

export function logRow({ log_id, ...record }: ListedLog): LogRow {
  return { ...record, id: String(log_id) };
}
