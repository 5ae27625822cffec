// The functions of queues: publish, progress, and what administrators need (modules 6.6, decisions 34 and 38).

import { Refusal, unreadablePayload } from '../../core/refusal.ts';
import { validateJob, validateJobs, validateProgress, validateQueue } from '../../generated/queue-payloads.ts';
import { idOffence } from '../../protocol/ids.ts';
import type { Payload } from '../../protocol/payload.ts';
import type { AnyBuiltin, BuiltinCall, RawBuiltinDefinition } from '../../router/builtin.ts';
import { type Outcome, outcomeOf, outcomeOfValue } from '../../router/reply.ts';
import { CommandInput } from '../../store/command-input.ts';
import { readPayload } from '../payload.ts';
import type { QueueSettings } from './config.ts';
import { deadLetterFunctions } from './dead-letter-functions.ts';
import { type FunctionParts, innerNames, namedQueue, shownName } from './function-parts.ts';
import { isTopicQueue } from './queues.ts';

const PROGRESS_BYTES_MAX = 4_096;
const JOBS_LISTED_DEFAULT = 50;
const JOBS_LISTED_MAX = 1_000;

export function queueFunctions(parts: FunctionParts): readonly AnyBuiltin[] {
  return [
    publish('svc::durable::publish', parts),
    publish('enqueue', parts),
    ...overview(parts),
    ...jobFunctions(parts),
    ...deadLetterFunctions(parts),
  ];
}

function publish(id: string, { topics, payloadBytesMax }: FunctionParts): RawBuiltinDefinition {
  return {
    id,
    description: 'Publishes a message: every subscribed function gets a copy, at least once',
    handleRaw(payload: Payload | undefined, _call: BuiltinCall, done: (outcome: Outcome) => void): void {
      const bytes = payload === undefined ? Buffer.alloc(0) : payload.asJsonBytes();
      if (bytes === undefined) throw unreadablePayload(`the payload for ${id}`);
      const input = new CommandInput(id, bytes);
      const topic = readTopic(input.json('topic'));
      const data = Buffer.from(input.json('data') ?? Buffer.from('null'));
      if (data.length > payloadBytesMax) {
        const text = `The data has ${data.length} bytes, over the limit of ${payloadBytesMax} of a message`;
        throw new Refusal('PAYLOAD_TOO_LARGE', text);
      }
      topics.publish(topic, data).then(
        () => done(outcomeOfValue(null)),
        (error: unknown) => done(outcomeOf(asRefusal(error))),
      );
    },
  };
}

function overview({ adapter, queues, topics }: FunctionParts): AnyBuiltin[] {
  return [
    {
      id: 'engine::queue::list_topics',
      description: 'Lists queues and topics',
      async handle() {
        const named = queues.all.filter(({ settings }) => !isTopicQueue(settings.name));
        return [
          ...named.map(({ settings }) => ({
            name: settings.name,
            broker_type: 'function_queue',
            subscriber_count: 0,
            type: settings.isFifo ? 'fifo' : 'standard',
          })),
          ...[...topics.subscribers].map(([name, count]) => ({
            name,
            broker_type: adapter.name,
            subscriber_count: count,
          })),
        ];
      },
    },
    {
      id: 'engine::queue::topic_stats',
      description: 'How many jobs of a queue or topic stand where',
      async handle(payload) {
        const name = namedQueue(readPayload('engine::queue::topic_stats', validateQueue, payload), 'topic_not_set');
        return await statsOf(name, { adapter, queues, topics });
      },
    },
    ...(['pause', 'resume'] as const).map((verb) => ({
      id: `engine::queue::${verb}`,
      description: verb === 'pause' ? 'Hands over no more jobs of a queue; what runs goes on' : 'Takes a pause back',
      async handle(payload: unknown) {
        const name = namedQueue(readPayload(`engine::queue::${verb}`, validateQueue, payload));
        for (const queue of innerNames(name, { queues, topics })) {
          await adapter.setPaused(queue, verb === 'pause');
          queues.find(queue)?.nudge();
        }
        return { queue: name, paused: verb === 'pause' };
      },
    })),
  ];
}

async function statsOf(name: string, parts: Pick<FunctionParts, 'adapter' | 'queues' | 'topics'>) {
  const { adapter, queues, topics } = parts;
  const inner = new Set(innerNames(name, parts));
  const states = { waiting: 0, delayed: 0, retrying: 0, waiting_for_worker: 0, running: 0 };
  let [dead, isPaused] = [0, false];
  for (const stats of await adapter.stats()) {
    if (!inner.has(stats.queue)) continue;
    states.waiting += stats.fresh + stats.ready + stats.blocked;
    states.delayed += stats.delayed;
    states.retrying += stats.retrying;
    states.waiting_for_worker += stats.parked;
    states.running += stats.running;
    dead += stats.dead;
    isPaused ||= stats.isPaused;
  }
  const runner = queues.find(name);
  return {
    depth: Object.values(states).reduce((sum, count) => sum + count, 0),
    consumer_count: runner === undefined ? (topics.subscribers.get(name) ?? 0) : 1,
    dlq_depth: dead,
    config: runner === undefined ? null : configOf(runner.settings),
    states,
    paused: isPaused,
  };
}

function configOf({ isFifo, concurrency, retry, jobTimeoutMs, rules }: QueueSettings) {
  return {
    type: isFifo ? 'fifo' : 'standard',
    concurrency,
    max_retries: retry.maxRetries,
    backoff_ms: retry.backoffMs,
    job_timeout_ms: jobTimeoutMs,
    message_group_field: rules.groupField ?? null,
  };
}

function jobFunctions({ adapter, queues, topics, finished, running, router }: FunctionParts): AnyBuiltin[] {
  return [
    {
      id: 'engine::queue::job',
      description: 'What became of a job, by its receipt',
      async handle(payload) {
        const { messageReceiptId: id } = readPayload('engine::queue::job', validateJob, payload);
        const row = finished.find(id, router.nowMs) ?? (await adapter.job(id));
        if (row === null) {
          throw new Refusal('NOT_FOUND', `There is no job with the receipt ${id}, or it is long done`);
        }
        const progress = running.get(id)?.progress;
        return { ...row, queue: shownName(row.queue), ...(progress !== undefined && { progress }) };
      },
    },
    {
      id: 'engine::queue::jobs',
      description: 'Lists the jobs of a queue in the order in which they were enqueued',
      async handle(payload) {
        const input = readPayload('engine::queue::jobs', validateJobs, payload);
        const name = namedQueue(input);
        const limit = Math.min(JOBS_LISTED_MAX, Math.max(1, input.limit ?? JOBS_LISTED_DEFAULT));
        const offset = Math.max(0, input.offset ?? 0);
        const lists = innerNames(name, { queues, topics }).map((queue) => adapter.jobs({ queue, offset, limit }));
        return (await Promise.all(lists))
          .flat()
          .filter(({ state }) => input.state === undefined || input.state === null || state === input.state)
          .map((row) => ({ ...row, queue: shownName(row.queue) }));
      },
    },
    {
      id: 'engine::queue::progress',
      description: 'A handler tells how far its job is; whoever holds the receipt can read it',
      handle(payload) {
        const { messageReceiptId: id, value } = readPayload('engine::queue::progress', validateProgress, payload);
        const bytes = Buffer.byteLength(JSON.stringify(value ?? null));
        if (bytes > PROGRESS_BYTES_MAX) {
          throw new Refusal('PAYLOAD_TOO_LARGE', `The progress has ${bytes} bytes, the limit is ${PROGRESS_BYTES_MAX}`);
        }
        const attempt = running.get(id);
        if (attempt === undefined) throw new Refusal('NOT_FOUND', `No job with the receipt ${id} runs now`);
        attempt.progress = value;
        return null;
      },
    },
  ];
}

function readTopic(json: Buffer | undefined): string {
  const topic: unknown = json === undefined ? undefined : JSON.parse(json.toString('utf8'));
  if (typeof topic !== 'string' || topic === '') {
    throw new Refusal('topic_not_set', 'The topic of the message is not set');
  }
  const offence = idOffence(topic);
  if (offence !== undefined) throw new Refusal('BAD_REQUEST', `The topic ${offence}`);
  return topic;
}

function asRefusal(error: unknown): Refusal {
  return error instanceof Refusal ? error : new Refusal('STORAGE_UNAVAILABLE', String(error));
}
