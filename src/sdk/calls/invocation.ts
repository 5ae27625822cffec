// One run of a handler, and the context that the handler reads. Each value is computed when it is read, because most
// handlers read none.

import { isRecord } from '../../protocol/json/record.ts';
import type { Link } from '../connection/link.ts';
import { createLogger, type HandlerSpan, type Logger, type WorkerTelemetry } from '../telemetry/telemetry.ts';
import type { DeliveredCall } from '../wire/wire.ts';
import type { HandlerContext, TriggerOrigin } from '../worker/handler.ts';
import type { PlatformClock } from '../worker/platform.ts';
import type { SvcWorker } from '../worker/svc-worker.ts';
import { Deadline, type Deadlines } from './deadline-wheel.ts';
import { SvcError } from './errors.ts';
import { callDepth, parseBaggage, parseTraceparent, type TraceIds } from './trace-context.ts';

/** What all invocations of a worker share. */
export interface InvocationEnvironment {
  readonly worker: SvcWorker;
  readonly clock: PlatformClock;
  readonly wheel: Deadlines;
  readonly telemetry: WorkerTelemetry;
}

export class Invocation implements HandlerContext {
  /** Without the payload: work that the handler leaves running may keep this reference for ever. */
  readonly #call: DeliveredCall;
  readonly #link: Link;
  readonly #environment: InvocationEnvironment;
  /** The time of arrival, on the platform's clock. */
  readonly #receivedMs: number;
  readonly #span: HandlerSpan | undefined;
  #logger: Logger | undefined;
  #baggage: ReadonlyMap<string, string> | undefined;
  #deadline: Date | undefined;
  #abort: AbortController | undefined;
  #abortReason: SvcError | undefined;
  #abortAtDeadline: AbortAtDeadline | undefined;

  constructor(call: DeliveredCall, link: Link, environment: InvocationEnvironment, span: HandlerSpan | undefined) {
    this.#call = call;
    this.#span = span;
    this.#link = link;
    this.#environment = environment;
    this.#receivedMs = link.receivedMs;
  }

  static callOf(invocation: Invocation): DeliveredCall {
    return invocation.#call;
  }

  /** The connection it arrived on; its answer leaves on no other (W4). */
  static linkOf(invocation: Invocation): Link {
    return invocation.#link;
  }

  static spanOf(invocation: Invocation): HandlerSpan | undefined {
    return invocation.#span;
  }

  /** Aborts the signal, also when the handler has not read it yet. */
  static abort(invocation: Invocation, reason: SvcError): void {
    invocation.#abortReason ??= reason;
    invocation.#abort?.abort(reason);
  }

  /** Ends the run; from now on nothing is aborted. */
  static finish(invocation: Invocation): void {
    const entry = invocation.#abortAtDeadline;
    if (entry !== undefined) invocation.#environment.wheel.remove(entry);
  }

  get function_id(): string {
    return this.#call.functionId;
  }

  get functionId(): string {
    return this.#call.functionId;
  }

  get invocation_id(): string {
    const { idText, idLow, idHigh } = this.#call;
    return idText ?? `${idLow.toString(16).padStart(8, '0')}-${idHigh.toString(16).padStart(12, '0')}`;
  }

  get trigger(): TriggerOrigin | undefined {
    return this.#call.trigger;
  }

  get trace(): TraceIds | undefined {
    return parseTraceparent(this.#call.traceparent ?? this.#span?.carrier.traceparent);
  }

  get attempt(): number | undefined {
    const attempt = this.#fromQueue('attempt');
    return typeof attempt === 'number' ? attempt : undefined;
  }

  get queue(): string | undefined {
    const queue = this.#fromQueue('queue');
    return typeof queue === 'string' ? queue : undefined;
  }

  get messageReceiptId(): string | undefined {
    const receipt = this.#fromQueue('messageReceiptId');
    return typeof receipt === 'string' ? receipt : undefined;
  }

  get receiptId(): string | undefined {
    return this.messageReceiptId;
  }

  async progress(value: unknown): Promise<void> {
    const { messageReceiptId } = this;
    if (messageReceiptId === undefined) return;
    await this.worker.trigger({ function_id: 'engine::queue::progress', payload: { messageReceiptId, value } });
  }

  get deadline(): Date | undefined {
    const remainingMs = this.#remainingMs();
    if (remainingMs !== undefined) this.#deadline ??= new Date(this.#environment.clock.wallMs() + remainingMs);
    return this.#deadline;
  }

  get signal(): AbortSignal {
    if (this.#abort !== undefined) return this.#abort.signal;
    const abort = new AbortController();
    this.#abort = abort;
    const remainingMs = this.#remainingMs();
    if (this.#abortReason !== undefined) abort.abort(this.#abortReason);
    else if (remainingMs !== undefined && remainingMs <= 0) Invocation.abort(this, this.#late());
    else if (remainingMs !== undefined) {
      this.#abortAtDeadline = new AbortAtDeadline(() => Invocation.abort(this, this.#late()));
      this.#environment.wheel.add(this.#abortAtDeadline, remainingMs);
    }
    return abort.signal;
  }

  get baggage(): ReadonlyMap<string, string> {
    this.#baggage ??= parseBaggage(this.#call.baggage);
    return this.#baggage;
  }

  get logger(): Logger {
    const { functionId, traceparent, baggage } = this.#call;
    const scope = { functionId, traceparent: this.#span?.carrier.traceparent ?? traceparent, baggage };
    this.#logger ??= createLogger(this.#environment.telemetry.log, () => scope);
    return this.#logger;
  }

  get depth(): number {
    return this.#call.depth ?? callDepth(this.baggage);
  }

  get worker(): SvcWorker {
    return this.#environment.worker;
  }

  get metadata(): unknown {
    return this.#call.metadata;
  }

  /** Reads a field that the queue wrote into the metadata of its job (Q9). */
  #fromQueue(field: string): unknown {
    const { metadata } = this.#call;
    return isRecord(metadata) ? metadata[field] : undefined;
  }

  #remainingMs(): number | undefined {
    const { timeoutMs } = this.#call;
    if (timeoutMs === undefined) return undefined;
    return this.#receivedMs + timeoutMs - this.#environment.clock.monotonicMs();
  }

  #late(): SvcError {
    const { function_id } = this;
    return new SvcError('TIMEOUT', `the caller of ${function_id} has stopped waiting`, { function_id });
  }
}

class AbortAtDeadline extends Deadline {
  readonly #abort: () => void;

  constructor(abort: () => void) {
    super();
    this.#abort = abort;
  }

  override expire(): void {
    this.#abort();
  }
}

/** A handler with the checks that its definition asks for. */
export type Run = (payload: unknown, invocation: Invocation) => unknown;
