// Joining and leaving: calls the `stream:join` handlers to decide whether a subscription is admitted, and the
// `stream:leave` handlers when it has ended.
//
// Anything undecided is a refusal (X6): a handler that fails or takes too long, a condition that cannot be called.

import { distinctBindings } from '../../core/registry/trigger-table.ts';
import type { Logger } from '../../effects/logger.ts';
import { asRawJson, byteStringToText, parseRawJson, type RawJson, rawJson } from '../../protocol/json/byte-string.ts';
import { Payload } from '../../protocol/payload/payload.ts';
import type { Binding } from '../../router/builtin.ts';
import type { Outcome } from '../../router/calls/call.ts';
import type { RouterPort } from '../../router/port.ts';
import { trustedFirst } from '../../router/restricted/reach.ts';
import type { StreamMessage, Tap } from '../taps.ts';
import type { Subscriber, SubscriptionGate } from './subscription.ts';
import { JoinLeaveTriggers } from './triggers.ts';

/** Not the start of new work, which a drain would refuse: every admitted subscription gets its leave event (T7). */
const END_DEPTH = 1;
/** A client causes it, not a call within the engine. Such calls have the share of restricted connections. */
const OUTSIDE = { depth: 0, isForRestricted: true };

export class JoinsAndLeaves implements SubscriptionGate {
  readonly joins = new JoinLeaveTriggers('stream:join', 'A client subscribes to a stream; may be refused.');
  readonly leaves = new JoinLeaveTriggers('stream:leave', 'A subscription to a stream has ended.');
  readonly #router: RouterPort;
  readonly #logger: Logger;
  readonly #askMsMax: number;
  readonly #tap: Tap<StreamMessage>;

  /** `askMsMax`: the time limit of each handler of a join. */
  constructor(router: RouterPort, logger: Logger, askMsMax: number, tap: Tap<StreamMessage>) {
    this.#tap = tap;
    this.#router = router;
    this.#logger = logger;
    this.#askMsMax = askMsMax;
  }

  /** `done` is called once, at once or later, with whether every handler admitted the subscription. */
  join(subscription: Subscriber, done: (isIn: boolean) => void): void {
    this.#show('join', subscription);
    const bindings = distinctBindings(trustedFirst(this.joins.matching(subscription.stream)));
    if (bindings.length === 0) {
      done(true);
      return;
    }
    const payload = Payload.ofText(eventPayload(subscription));
    let waitingFor = bindings.length;
    let isIn = true;
    for (const binding of bindings) {
      this.#ask(binding, payload, (verdict) => {
        isIn &&= verdict;
        waitingFor -= 1;
        if (waitingFor === 0) done(isIn);
      });
    }
  }

  /** Handlers of one subscription are called in order; no caller waits for them. */
  leave(subscription: Subscriber): void {
    this.#show('leave', subscription);
    const bindings = this.leaves.matching(subscription.stream);
    if (bindings.length === 0) return;
    this.#router.fire(bindings, Payload.ofText(eventPayload(subscription)), { depth: END_DEPTH }, subscription.id);
  }

  /** For watchers of the stream server as a whole. */
  #show(event: 'join' | 'leave', { id, stream, group, item }: Subscriber): void {
    if (!this.#tap.isWatched) return;
    const body = Buffer.from(JSON.stringify({ type: event, subscription_id: id }));
    this.#tap.publish({ direction: 'inbound', stream, group, item, event, body, seq: undefined, receivers: 0 });
  }

  #ask(binding: Binding, payload: Payload, done: (isIn: boolean) => void): void {
    this.#router.checkBinding(binding, payload, OUTSIDE, (verdict) => {
      if (verdict === 'pass') this.#call(binding, payload, done);
      else done(verdict === 'skip');
    });
  }

  #call(binding: Binding, payload: Payload, done: (isIn: boolean) => void): void {
    const { functionId, type, metadata, owner } = binding;
    binding.lastFiredAtMs = this.#router.nowMs;
    const call = {
      functionId,
      payload,
      metadata: metadata && Payload.ofText(metadata),
      ...OUTSIDE,
      timeoutMs: this.#askMsMax,
      binding,
      decides: owner?.access === undefined,
    };
    this.#router.call(call, (outcome) => {
      const failure = failureOf(outcome);
      binding.error = failure;
      if (failure !== undefined) {
        this.#router.count('triggers.failed', type);
        this.#logger.warn('A join was refused: its handler failed', { function_id: functionId, error: failure });
      }
      done(failure === undefined && !isRefused(outcome));
    });
  }
}

function eventPayload({ id, stream, group, item, context }: Subscriber): RawJson {
  const subject = {
    subscription_id: id,
    stream_name: stream,
    group_id: group,
    ...(item !== undefined && { id: item }),
  };
  // The context is passed on as it came from the auth function, whatever its keys.
  return asRawJson(`${rawJson(subject).slice(0, -1)},"context":${context}}`);
}

function failureOf({ error, result }: Outcome): string | undefined {
  if (error !== undefined)
    return byteStringToText(error.asText() ?? rawJson('an error that is not JSON')).slice(0, 300);
  return result !== undefined && result.asText() === undefined ? 'its answer is not JSON' : undefined;
}

/** Anything but `{unauthorized: true}` admits. */
function isRefused({ result }: Outcome): boolean {
  const text = result?.asText();
  const value = text === undefined ? undefined : parseRawJson(text);
  return typeof value === 'object' && value !== null && Reflect.get(value, 'unauthorized') === true;
}
