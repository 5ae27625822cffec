// What the adapter of a queue cannot report, in words. A page shows this in place of a zero or an empty list (QUE-2,
// QUE-4).

import type { QueueRow, QueueSecret } from '../../../../../console-api/queues.ts';

const STORES: Readonly<Record<string, string>> = {
  builtin: 'The builtin store',
  extstore: 'Redis',
  rabbitmq: 'RabbitMQ',
};

/** The subject of the sentence. */
export function storeName(adapter: string): string {
  return STORES[adapter] ?? `The adapter ${adapter}`;
}

const WORDS: Readonly<Record<QueueSecret, string>> = {
  jobs: 'reports how many jobs wait, but not which ones',
  waits: 'does not count the jobs that wait for their time or their next attempt',
  attempts: 'keeps the last error of a job, but not each of its attempts',
  payloads: 'gives the payload of a live job only to workers',
  payload_search: 'does not search payloads: only receipts and errors are searched',
  groups: 'does not report the groups of a FIFO queue',
};

/** A sentence; undefined where the adapter reports it. */
export function secretOf(
  { adapter, not_told: secrets }: Pick<QueueRow, 'adapter' | 'not_told'>,
  secret: QueueSecret,
): string | undefined {
  return secrets.includes(secret) ? `${storeName(adapter)} ${WORDS[secret]}.` : undefined;
}
