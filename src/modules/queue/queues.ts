// The queues that this engine works on: those of the file, their lanes for jobs of restricted connections, and one for
// each (topic, function).

import { createHash } from 'node:crypto';
import { PRESSURE } from '../../core/limits/pressure.ts';
import { isNamedQueue, laneOf, withoutLane } from '../../core/queue/queue-names.ts';
import type { EnqueueAnswer } from '../../core/queue/shapes.ts';
import { Payload } from '../../protocol/payload/payload.ts';
import type { JobRequest, JobTaker, JobTarget } from '../../router/builtin.ts';
import type { JobToKeep } from './adapters/adapter.ts';
import { optionRefusal } from './adapters/capabilities.ts';
import { configuredQueues, type QueueModuleConfig, type QueueSettings } from './config.ts';
import { type LaneAdapter, RestrictedLanes } from './restricted-lanes.ts';
import { QueueRunner, type RunnerContext } from './runner.ts';

const DELAY_MS_MAX = 365 * 86_400_000;
const KEY_BYTES_MAX = 256;

interface QueuesContext extends RunnerContext {
  readonly adapter: RunnerContext['adapter'] & LaneAdapter;
}

export class Queues implements JobTaker {
  readonly lanes: RestrictedLanes;
  readonly #context: QueuesContext;
  readonly #payloadBytesMax: number;
  readonly #runners = new Map<string, QueueRunner>();
  /** No longer configured: they hand over nothing, and still record the outcomes of running jobs. */
  readonly #removed = new Map<string, QueueRunner>();
  #isOpen = false;
  #isDraining = false;
  readonly #feel = (): void => {
    const isSlowed = this.#isSlowed;
    for (const runner of this.#runners.values()) runner.slow(isSlowed);
  };

  constructor(context: QueuesContext, config: QueueModuleConfig) {
    this.#context = context;
    this.lanes = new RestrictedLanes({ ...context, queues: this });
    this.#payloadBytesMax = config.max_payload_bytes;
    for (const settings of configuredQueues(config)) this.add(settings);
    context.router.pressure.listeners.add(this.#feel);
  }

  get #isSlowed(): boolean {
    return this.#context.router.pressure.level >= PRESSURE.shed;
  }

  get all(): readonly QueueRunner[] {
    return [...this.#runners.values()];
  }

  find(name: string): QueueRunner | undefined {
    return this.#runners.get(name);
  }

  removed(name: string): QueueRunner | undefined {
    return this.#removed.get(name);
  }

  /** The adapter has them: jobs may come. */
  opened(): void {
    this.#isOpen = true;
  }

  get place(): string | undefined {
    return this.#context.adapter.place;
  }

  target(queue: string): JobTarget | string {
    const { adapter } = this.#context;
    const runner = isNamedQueue(queue) ? this.#runners.get(queue) : undefined;
    if (runner === undefined) return `Queue '${queue}' not found`;
    if (adapter.idempotencyKeys === undefined) {
      return `Queue '${queue}' is kept by ${adapter.name}, which cannot recognise a repeated job`;
    }
    return { store: adapter.localStore, rules: runner.settings.rules, payloadBytesMax: this.#payloadBytesMax };
  }

  jobsCame(queue: string, jobs: number): void {
    const runner = this.#runners.get(queue);
    for (let job = 0; job < jobs; job++) runner?.noteEnqueued();
    runner?.nudge();
  }

  /** A new queue, or one that was added again. */
  add(settings: QueueSettings): QueueRunner {
    const { name, isFifo } = settings;
    const asleep = this.#removed.get(name);
    this.#removed.delete(name);
    const isSame = asleep?.settings.isFifo === isFifo;
    const runner = isSame ? asleep : new QueueRunner(this.#context, settings);
    this.#runners.set(name, runner);
    if (this.#isDraining) runner.drain();
    else if (isSame) runner.resume(settings);
    // A queue that is added again may have been slowed when it was removed.
    runner.slow(this.#isSlowed);
    const lane = laneOf(name);
    if (this.#removed.get(lane)?.settings.isFifo === isFifo) this.add({ ...settings, name: lane });
    return runner;
  }

  /** Applies other settings to a queue and its lane, from the next job on. */
  configure(settings: QueueSettings): void {
    const lane = laneOf(settings.name);
    this.#runners.get(settings.name)?.configure(settings);
    this.#runners.get(lane)?.configure({ ...settings, name: lane });
  }

  /** Its jobs stay where they are; running ones continue. */
  remove(name: string): void {
    const runner = this.#runners.get(name);
    if (runner === undefined) return;
    this.#runners.delete(name);
    this.#removed.set(name, runner);
    runner.drain();
    this.remove(laneOf(name));
  }

  /** Removes a queue that is no longer used and empty. False: it still has work in progress. */
  forget(name: string): boolean {
    const runner = this.#runners.get(name);
    if (runner === undefined) return true;
    if (!runner.isQuiet) return false;
    this.#runners.delete(name);
    runner.drain();
    return true;
  }

  /** No more jobs are handed over, not even of queues that are added meanwhile (G2). */
  drain(): void {
    this.#isDraining = true;
    for (const runner of this.#runners.values()) runner.drain();
  }

  /** The last message: nothing may wait for an answer any more. */
  flush(): void {
    this.#context.router.pressure.listeners.delete(this.#feel);
    for (const runner of [...this.#runners.values(), ...this.#removed.values()]) runner.flush();
  }

  take(request: JobRequest, done: (answer: EnqueueAnswer) => void): void {
    const { payload, rights } = request;
    const { queue } = request.action;
    if (!this.#isOpen) return done(NOT_OPEN);
    const runner = isNamedQueue(queue) ? this.#runners.get(queue) : undefined;
    if (runner === undefined) return done(notFound(queue));
    const refusal = offenceOf(request);
    if (refusal !== undefined) return done(refusal);
    if (payload !== undefined && payload.byteLength > this.#payloadBytesMax) return done(this.#tooLarge(payload));
    const job = jobOf(request);
    const lack = optionRefusal(this.#context.adapter, job);
    if (lack !== undefined) return done(lack);
    if (rights === undefined || this.#context.router.sharesQueue(rights, queue))
      return this.#enqueue(runner, job, done);
    const open = this.#runners.get(laneOf(queue));
    if (open !== undefined) return this.#enqueueApart(open, job, done);
    const copy = { ...job, payload: copyOf(payload) };
    this.lanes.open(runner, (lane) => ('reason' in lane ? done(lane) : this.#enqueueApart(lane, copy, done)));
  }

  /** The caller knows the queue, not its lane. */
  #enqueueApart(lane: QueueRunner, job: JobToKeep, done: (answer: EnqueueAnswer) => void): void {
    const { name } = lane.settings;
    this.#enqueue(lane, job, (answer) => {
      if (!('reason' in answer)) return done(answer);
      done({ reason: answer.reason, message: answer.message.replaceAll(name, withoutLane(name)) });
    });
  }

  #enqueue(runner: QueueRunner, job: JobToKeep, done: (answer: EnqueueAnswer) => void): void {
    const { adapter } = this.#context;
    const isExclusive = adapter.sharing === undefined;
    adapter.enqueue(runner.settings.name, runner.settings.rules, job, (answer) => {
      done(answer);
      if ('reason' in answer) return;
      runner.noteEnqueued();
      if (!isExclusive) runner.noteNews();
    });
    // The next step goes with the jobs, in their transaction, and finds them.
    if (isExclusive) runner.nudge();
  }

  #tooLarge({ byteLength }: { readonly byteLength: number }): EnqueueAnswer {
    const message = `The payload has ${byteLength} bytes, over the limit of ${this.#payloadBytesMax} of a job`;
    return { reason: 'PAYLOAD_TOO_LARGE', message };
  }
}

const NOT_OPEN: EnqueueAnswer = { reason: 'STORAGE_UNAVAILABLE', message: 'The queues are not open yet' };

function jobOf(request: JobRequest): JobToKeep {
  const { action, functionId, payload, metadata, traceparent, baggage, trigger, conditionFunctionId, rights } = request;
  const { delay_ms: delayMs, priority } = action;
  const idempotencyKey = keyOf(request);
  return {
    facts: {
      functionId,
      ...(metadata !== undefined && { metadata }),
      ...(traceparent !== undefined && { traceparent }),
      ...(baggage !== undefined && { baggage }),
      ...(trigger !== undefined && { trigger }),
      ...(rights !== undefined && { rights }),
      ...(conditionFunctionId !== undefined && { conditionFunctionId }),
    },
    payload,
    ...(delayMs !== undefined && { delayMs }),
    ...(priority !== undefined && { priority }),
    ...(idempotencyKey !== undefined && { idempotencyKey }),
  };
}

/** A payload lies in its frame, which is gone when a lane has been opened. */
function copyOf(payload: Payload | undefined): Payload | undefined {
  const bytes = payload?.asJsonBytes();
  // What cannot be read is refused by the adapter.
  return bytes === undefined ? payload : Payload.ofBytes(Buffer.from(bytes), 0, bytes.length);
}

/** Of the same length for every scope, so that a client cannot guess the key of another one. */
function keyOf({ action: { idempotency_key: key }, keyScope }: JobRequest): string | undefined {
  if (key === undefined || keyScope === undefined) return key;
  return createHash('sha256')
    .update(JSON.stringify([keyScope, key]))
    .digest('base64url');
}

function notFound(queue: string): EnqueueAnswer {
  return { reason: 'QUEUE_NOT_FOUND', message: `Queue '${queue}' not found` };
}

function offenceOf({ action }: JobRequest): EnqueueAnswer | undefined {
  const { delay_ms: delayMs = 0, priority = 0, idempotency_key: key } = action;
  if (!Number.isInteger(delayMs) || delayMs < 0 || delayMs > DELAY_MS_MAX) {
    return invalid(`delay_ms must be a whole number from 0 to ${DELAY_MS_MAX}, found ${delayMs}`);
  }
  if (!Number.isInteger(priority) || priority < 0 || priority > 255) {
    return invalid(`priority must be a whole number from 0 to 255, found ${priority}`);
  }
  if (key !== undefined && (key === '' || Buffer.byteLength(key) > KEY_BYTES_MAX)) {
    return invalid(`idempotency_key must have 1 to ${KEY_BYTES_MAX} bytes`);
  }
  return undefined;
}

function invalid(message: string): EnqueueAnswer {
  return { reason: 'INVALID_ARGUMENTS', message };
}
