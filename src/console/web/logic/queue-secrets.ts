// What the adapter of a queue cannot tell, in words: a page says so in the place of a zero or an empty list (QUE-2,
// QUE-4).

import type { QueueRow, QueueSecret } from '../../../console-api/queues.ts';

const STORES: Readonly<Record<string, string>> = {
  builtin: 'The builtin store',
  extstore: 'Redis',
  rabbitmq: 'RabbitMQ',
};

/** As a sentence begins. */
export function storeName(adapter: string): string {
  return STORES[adapter] ?? `The adapter ${adapter}`;
}

const WORDS: Readonly<Record<QueueSecret, string>> = {
  jobs: 'tells how many jobs wait, and not which ones',
  waits: 'does not count the jobs that wait for their time or their next attempt',
  attempts: 'keeps the last error of a job, and not each of its attempts',
  payloads: 'hands the payload of a living job to workers only',
  payload_search: 'does not look into payloads: receipts and errors are searched',
  groups: 'does not tell of the groups of a FIFO queue',
};

/** A sentence; undefined where the adapter tells it. */
export function secretOf(
  { adapter, not_told: secrets }: Pick<QueueRow, 'adapter' | 'not_told'>,
  secret: QueueSecret,
): string | undefined {
  return secrets.includes(secret) ? `${storeName(adapter)} ${WORDS[secret]}.` : undefined;
}
