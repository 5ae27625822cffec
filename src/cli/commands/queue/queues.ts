// Shared by the queue commands: the queues that the engine knows, the failure for one that does not exist, and times.

import { nearestWords } from '../../../core/config-fields/nearest.ts';
import type { EngineConnection } from '../../engine/connection.ts';
import { CliFailure, EXIT } from '../../kernel/failures.ts';
import type { Output } from '../../text/output.ts';
import { isRecord, type JsonRecord, numberIn, textIn, textsIn } from '../../text/records.ts';
import type { Terminal } from '../../text/terminal.ts';
import { formatTime } from '../../text/times.ts';

const SUGGESTIONS_MAX = 3;

export async function listQueues(engine: EngineConnection): Promise<JsonRecord[]> {
  const answer = await engine.call('engine::queue::list', {});
  return Array.isArray(answer) ? answer.filter(isRecord) : [];
}

/** The queue or topic of that name; throws for one that does not exist, with suggestions (CLI-8). */
export async function findQueue(engine: EngineConnection, name: string, advice = ''): Promise<JsonRecord> {
  const queues = await listQueues(engine);
  const found = queues.find((queue) => textIn(queue, 'name') === name);
  if (found !== undefined) return found;
  const names = queues.map((queue) => textIn(queue, 'name'));
  const suggestions = nearestWords(name, names).slice(0, SUGGESTIONS_MAX);
  throw new CliFailure({
    code: 'QUEUE_NOT_FOUND',
    message: `There is no queue or topic '${name}' (engine at ${engine.address}).`,
    exitCode: EXIT.notFound,
    hint: [
      suggestions.length > 0 ? `Did you mean: ${suggestions.join(', ')}?` : 'List them with: svc queue list',
      ...(advice === '' ? [] : [advice]),
    ].join(' '),
    details: { queue: name, suggestions },
  });
}

/** Shown instead of a value that the adapter of a queue does not report. */
export const NOT_REPORTED = '-';

/** The entry of `not_told` with which the engine marks a field of a queue as not reported. */
const UNREPORTED: Readonly<Record<string, string>> = {
  retrying: 'waits',
  delayed: 'waits',
  oldest_enqueued_at: 'jobs',
};

/** False when the adapter of the queue does not report the field: its value is then not a count. */
export function isReported(queue: JsonRecord, field: string): boolean {
  const entry = UNREPORTED[field];
  return entry === undefined || !textsIn(queue, 'not_told').includes(entry);
}

/** A time in Unix milliseconds as readable text; empty when there is none. */
export function timeText(unixMs: number | undefined, { timeStyle }: Output, terminal: Terminal): string {
  return unixMs === undefined ? '' : formatTime(unixMs, timeStyle, terminal.now());
}

/** The same as ISO 8601. */
export function isoText(unixMs: number | undefined): string {
  return unixMs === undefined ? '' : new Date(unixMs).toISOString();
}

/** A record with its times as ISO 8601 (CLI-2). */
export function withIsoTimes(
  record: JsonRecord,
  fields: Readonly<Record<string, 'ms' | 's'>>,
): Record<string, unknown> {
  const times = Object.entries(fields).flatMap(([field, unit]) => {
    const value = numberIn(record, field);
    return value === undefined ? [] : [[field, isoText(unit === 's' ? value * 1_000 : value)]];
  });
  return { ...record, ...Object.fromEntries(times) };
}
