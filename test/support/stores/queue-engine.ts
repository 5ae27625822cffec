// An engine with queues, and a program that enqueues and remembers every receipt.

import type { Clock } from '../../../src/effects/clock.ts';
import type { Frame, RawWorker } from '../clients/raw-worker.ts';
import { startTestEngine, type TestEngine } from '../engine/test-engine.ts';

export interface QueueYaml {
  /** `queue_configs`, as one line of YAML. */
  readonly queues?: string;
  /** The adapter; in memory by default. */
  readonly folder?: string;
  readonly drainTimeoutMs?: number;
}

export function queueYaml({ queues = '{}', folder, drainTimeoutMs = 100 }: QueueYaml = {}): string {
  const place = folder === undefined ? 'store_method: in_memory' : `file_path: ${folder}`;
  return `drain_timeout_ms: ${drainTimeoutMs}
workers:
  - name: svc-worker-manager
    config: {port: 0}
  - name: svc-queue
    config: {queue_configs: ${queues}, adapter: {name: builtin, config: {${place}}}}
`;
}

export function startQueueEngine(yaml: QueueYaml = {}, clock?: Clock): Promise<TestEngine> {
  return startTestEngine({ yaml: queueYaml(yaml), ...(clock && { clock }) });
}

export interface EnqueueFields {
  readonly queue?: string;
  readonly idempotency_key?: string;
  readonly delay_ms?: number;
  readonly priority?: number;
  readonly metadata?: unknown;
}

/** The frame of the answer. */
export function enqueue(worker: RawWorker, id: string, data: unknown, fields: EnqueueFields = {}): Promise<Frame> {
  const { metadata, queue = 'default', ...options } = fields;
  const action = { type: 'enqueue', queue, ...options };
  return worker.call(id, data, { action, ...(metadata !== undefined && { metadata }) });
}

/** The receipt; throws when the job was refused. */
export async function receiptOf(answer: Promise<Frame>): Promise<string> {
  const { result, error } = await answer;
  if (error !== undefined) throw new Error(`The job was refused: ${JSON.stringify(error)}`);
  return (result as { messageReceiptId: string }).messageReceiptId;
}

export interface TopicStats {
  readonly depth: number;
  readonly dlq_depth: number;
  readonly states: Readonly<Record<string, number>>;
  readonly paused: boolean;
}

export async function statsOf(worker: RawWorker, queue = 'default'): Promise<TopicStats> {
  const { result, error } = await worker.call('engine::queue::topic_stats', { topic: queue });
  if (error !== undefined) throw new Error(JSON.stringify(error));
  return result as TopicStats;
}

export interface DeadLetter {
  readonly id: string;
  readonly payload: unknown;
  readonly error: string;
  readonly reason: string;
  readonly retries: number;
  readonly deliveries: number;
}

export async function deadLettersOf(worker: RawWorker, queue = 'default', page = {}): Promise<DeadLetter[]> {
  const { result, error } = await worker.call('engine::queue::dlq_messages', { topic: queue, limit: 1_000, ...page });
  if (error !== undefined) throw new Error(JSON.stringify(error));
  return result as DeadLetter[];
}
