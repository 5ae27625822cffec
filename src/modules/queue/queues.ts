// The queues that this engine works on: those of the file, and one for each (topic, function).

import type { EnqueueAnswer } from '../../core/queue/shapes.ts';
import type { JobRequest, JobTaker } from '../../router/context.ts';
import { QUEUE_DEFAULTS, type QueueFields, type QueueSettings, settingsOf } from './config.ts';
import { QueueRunner, type RunnerParts } from './runner.ts';

const DELAY_MS_MAX = 365 * 86_400_000;
const KEY_BYTES_MAX = 256;

export class Queues implements JobTaker {
  readonly #parts: RunnerParts;
  readonly #payloadBytesMax: number;
  readonly #runners = new Map<string, QueueRunner>();

  constructor(parts: RunnerParts, configured: Readonly<Record<string, QueueFields>>, payloadBytesMax: number) {
    this.#parts = parts;
    this.#payloadBytesMax = payloadBytesMax;
    for (const [name, fields] of Object.entries({ default: QUEUE_DEFAULTS, ...configured })) {
      this.add(settingsOf(name, fields));
    }
  }

  get all(): readonly QueueRunner[] {
    return [...this.#runners.values()];
  }

  find(name: string): QueueRunner | undefined {
    return this.#runners.get(name);
  }

  add(settings: QueueSettings): QueueRunner {
    const runner = new QueueRunner(this.#parts, settings);
    this.#runners.set(settings.name, runner);
    return runner;
  }

  take(request: JobRequest, done: (answer: EnqueueAnswer) => void): void {
    const { action, functionId, payload, metadata, traceparent, baggage } = request;
    const runner = this.#runners.get(action.queue);
    const refusal = runner === undefined || isTopicQueue(action.queue) ? notFound(action.queue) : offenceOf(request);
    if (refusal !== undefined || runner === undefined) return done(refusal ?? notFound(action.queue));
    if (payload !== undefined && payload.byteLength > this.#payloadBytesMax) return done(this.#tooLarge(payload));
    const { delay_ms: delayMs, priority, idempotency_key: idempotencyKey } = action;
    const job = {
      facts: {
        functionId,
        ...(metadata !== undefined && { metadata }),
        ...(traceparent !== undefined && { traceparent }),
        ...(baggage !== undefined && { baggage }),
      },
      payload,
      ...(delayMs !== undefined && { delayMs }),
      ...(priority !== undefined && { priority }),
      ...(idempotencyKey !== undefined && { idempotencyKey }),
    };
    this.#parts.adapter.enqueue(runner.settings.name, runner.settings.rules, job, (answer) => {
      done(answer);
      if (!('reason' in answer)) runner.nudge();
    });
  }

  #tooLarge({ byteLength }: { readonly byteLength: number }): EnqueueAnswer {
    const message = `The payload has ${byteLength} bytes, over the limit of ${this.#payloadBytesMax} of a job`;
    return { reason: 'PAYLOAD_TOO_LARGE', message };
  }
}

/** A name that no named queue can have: names hold no control characters. */
export function topicQueue(topic: string, functionId: string): string {
  return `${topic}\n${functionId}`;
}

export function isTopicQueue(name: string): boolean {
  return name.includes('\n');
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
