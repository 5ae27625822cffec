// Calls that the engine hands to this worker: finds the handler, runs it and answers once.
//
// Neighbours: `registrations.ts` holds the handlers, `invocation.ts` is their context, `link.ts` sends the answer.
//
// - Every invocation is answered exactly once, on the connection it arrived on. If that connection is gone it is not
//   answered: the engine has already answered the caller, and on a new connection the id may belong to another call.
// - While a handler runs, the calls it makes find its trace context, also after an `await`.

import { type Link, tooLarge } from '../connection/link.ts';
import { TriggerTypes } from '../triggers/trigger-types.ts';
import type { DeliveredCall, EncodedResult } from '../wire/wire.ts';
import type { MiddlewareChain } from '../worker/handler.ts';
import { OncePerMinute } from '../worker/once-per-minute.ts';
import type { Settings } from '../worker/options.ts';
import type { ContextStorage } from '../worker/platform.ts';
import type { Registrations } from '../worker/registrations.ts';
import type { SvcError } from './errors.ts';
import { Invocation, type InvocationEnvironment, type Run } from './invocation.ts';
import { errorToAnswer } from './remote-error.ts';
import type { TraceCarrier } from './trace-context.ts';

export interface IncomingCallsOptions {
  readonly settings: Settings;
  readonly contexts: ContextStorage<TraceCarrier>;
  readonly middleware: MiddlewareChain;
  readonly environment: InvocationEnvironment;
  /** The handler of a function, if this worker registered it. */
  readonly find: (functionId: string) => Run | undefined;
}

export class IncomingCalls {
  readonly #options: IncomingCallsOptions;
  /** Invocations whose handler returned a promise. All others have ended by the time this is read. */
  readonly #running = new Set<Invocation>();
  /** Callers that wait for the last handler to end. */
  readonly #idleWaiters: (() => void)[] = [];
  readonly #droppedAnswers: OncePerMinute;

  constructor(options: IncomingCallsOptions) {
    this.#options = options;
    this.#droppedAnswers = new OncePerMinute(options.environment.clock);
  }

  get runningCount(): number {
    return this.#running.size;
  }

  receive(call: DeliveredCall, payload: unknown, link: Link): void {
    const { find, contexts, middleware, environment } = this.#options;
    const run = find(call.functionId);
    if (run === undefined) {
      link.sendError(call, { code: 'function_not_found', message: 'Function not found' });
      return;
    }
    const span = environment.telemetry.begin?.(call);
    const invocation = new Invocation(call, link, environment, span);
    let outcome: unknown;
    try {
      const within = middleware.isEmpty ? run : this.#around(run);
      const carrier = span === undefined ? traceOf(call) : span.carrier;
      if (span?.run === undefined) outcome = contexts.run(carrier, within, payload, invocation);
      else outcome = span.run(() => contexts.run(carrier, within, payload, invocation));
      if (isThenable(outcome)) {
        this.#running.add(invocation);
        void this.#await(outcome, invocation);
        return;
      }
    } catch (thrown) {
      this.#fail(invocation, thrown);
      return;
    }
    this.#succeed(invocation, outcome);
  }

  /** Resolves when no handler is running. */
  whenIdle(): Promise<void> {
    if (this.#running.size === 0) return Promise.resolve();
    return new Promise((resolve) => {
      this.#idleWaiters.push(resolve);
    });
  }

  /** Aborts the signals of all running handlers. */
  abortAll(reason: SvcError): void {
    for (const invocation of this.#running) Invocation.abort(invocation, reason);
  }

  async #await(outcome: PromiseLike<unknown>, invocation: Invocation): Promise<void> {
    let result: unknown;
    try {
      result = await outcome;
    } catch (thrown) {
      this.#leave(invocation);
      this.#fail(invocation, thrown);
      return;
    }
    this.#leave(invocation);
    this.#succeed(invocation, result);
  }

  #around(run: Run): Run {
    return (payload, invocation) =>
      this.#options.middleware.run(
        { direction: 'incoming', function_id: invocation.function_id, payload, context: invocation },
        (call) => run(call.payload, invocation),
      );
  }

  #succeed(invocation: Invocation, result: unknown): void {
    const link = this.#finish(invocation);
    Invocation.spanOf(invocation)?.end();
    if (link === undefined) return;
    const call = Invocation.callOf(invocation);
    let encoded: EncodedResult | undefined;
    try {
      encoded = link.encodeResult(call, result);
    } catch (cause) {
      const why = cause instanceof Error ? cause.message : String(cause);
      const message = `the result of ${call.functionId} cannot be sent as JSON: ${why}`;
      link.sendError(call, { code: 'invocation_failed', message });
      return;
    }
    const overlong = encoded === undefined ? undefined : link.overlongAnswerBytes(call, encoded);
    if (overlong === undefined) link.sendResult(call, encoded);
    else link.sendError(call, tooLarge('result', call.functionId, overlong, this.#options.settings.frameBytesMax));
  }

  #fail(invocation: Invocation, thrown: unknown): void {
    Invocation.spanOf(invocation)?.end({ thrown });
    this.#finish(invocation)?.sendError(Invocation.callOf(invocation), errorToAnswer(thrown));
  }

  #leave(invocation: Invocation): void {
    this.#running.delete(invocation);
    if (this.#running.size === 0) for (const resolve of this.#idleWaiters.splice(0)) resolve();
  }

  /** Ends the run; returns the connection to answer on, if it is still up. */
  #finish(invocation: Invocation): Link | undefined {
    Invocation.finish(invocation);
    const link = Invocation.linkOf(invocation);
    if (link.isUp) return link;
    this.#droppedAnswers.write((more) => {
      const others = more > 0 ? ` (and ${more} others)` : '';
      const text = `dropped the answer of ${invocation.function_id}${others}: the connection it was called on is gone`;
      this.#options.settings.log('warn', text);
    });
    return undefined;
  }
}

/** The trace context for calls that the handler makes. Keeping the call itself would keep its metadata in memory. */
function traceOf({ traceparent, baggage, depth, functionId }: DeliveredCall): TraceCarrier {
  return { traceparent, baggage, depth, functionId };
}

function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof value === 'object' && value !== null && 'then' in value && typeof value.then === 'function';
}

/**
 * The part of a worker that receives calls: its handlers, and the providers of its trigger types. A page that only
 * makes calls does not load it.
 */
export class CalledSide {
  readonly calls: IncomingCalls;
  readonly triggerTypes: TriggerTypes;

  constructor(options: IncomingCallsOptions, registrations: Registrations) {
    this.calls = new IncomingCalls(options);
    this.triggerTypes = new TriggerTypes(registrations, options.settings);
  }
}
