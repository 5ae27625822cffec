// An event happened: every function bound to it is called, after its condition passed, if it has one.
//
// The calls are fire-and-forget calls of the engine. A firing that never reached its handler is noted on the binding.
// Invariants:
//   - Handlers of one binding are called in the order of its events as far as these share an order, however long the
//     condition of each takes (S5).
//   - A binding that left while its condition was asked is not called any more (W2).

import type { Access } from '../../core/access/access.ts';
import type { EnqueueAnswer } from '../../core/queue/shapes.ts';
import { distinctBindings, equalBindings } from '../../core/registry/trigger-table.ts';
import type { RawJson } from '../../protocol/json/byte-string.ts';
import { Payload } from '../../protocol/payload/payload.ts';
import type { Binding, Cause } from '../builtin.ts';
import { errorLine } from '../calls/call.ts';
import { callLocally } from '../calls/call-locally.ts';
import type { RouterContext } from '../context.ts';
import { allOthers } from '../remote/offers.ts';
import type { RemoteEngine } from '../remote/remote-engine.ts';
import { RemoteOwner, registeredIdOf } from '../remote/remote-owner.ts';
import { firingRefusal } from '../restricted/firing-rate.ts';
import { rightsToKeep, trustedFirst } from '../restricted/reach.ts';
import { beginFiring, contextOf, endOutcome, spanOf } from '../session/observe.ts';
import { askCondition, type ConditionVerdict } from './condition.ts';

/**
 * An event of the engine's own types, whose bindings have no conditions. Its payload depends on what the owner of a
 * binding may see (X10): without rights everything; `undefined`: the owner gets no event.
 * `seenBy`: whether the other engines of a cluster see the event, too.
 */
export function fireTrigger(
  context: RouterContext,
  type: string,
  payloadFor: (rights: Access | undefined) => RawJson | undefined,
  { depth, seenBy }: { readonly depth: number; readonly seenBy: 'this engine' | 'all engines' },
): void {
  const bindings = [...context.triggers.bindingsOf(type)].filter(({ state }) => state === 'bound');
  const trusted = bindings.filter(({ owner }) => owner?.access === undefined);
  // What all engines see, its own engine fires.
  const isHere = ({ owner }: Binding): boolean => seenBy === 'this engine' || !(owner instanceof RemoteOwner);
  const restricted = bindings.filter((binding) => binding.owner?.access !== undefined && isHere(binding));
  const ours = seenBy === 'this engine' ? distinctBindings(trusted) : oursOf(context, trusted);
  const payload = ours.length > 0 ? payloadFor(undefined) : undefined;
  for (const binding of ours) callOwner(context, binding, payload, depth);
  // Computed once for all triggers of an owner, who may have a hundred of them.
  const payloads = new Map<Access | undefined, RawJson | undefined>();
  for (const { owner } of restricted) {
    if (!payloads.has(owner?.access)) payloads.set(owner?.access, payloadFor(owner?.access));
  }
  for (const binding of restricted) callOwner(context, binding, payloads.get(binding.owner?.access), depth);
}

/**
 * Of equal triggers of a cluster one is fired by one engine: of those that can be reached and have one of them, the
 * engine with the lowest id. All engines have a trigger without an owner, each on its first router.
 */
function oursOf(context: RouterContext, trusted: readonly Binding[]): Binding[] {
  const others = allOthers(context).filter(({ isUp }) => isUp);
  const firsts = others.filter(({ isFurther, isRouter }) => !isFurther && !isRouter);
  return equalBindings(trusted).flatMap((equal) => {
    const own = equal.find(({ owner }) => !(owner instanceof RemoteOwner));
    const isOfAll = equal.some(({ owner }) => owner === undefined);
    const engines = isOfAll ? firsts : others.filter((engine) => equal.some(({ owner }) => isOf(owner, engine)));
    return own !== undefined && engines.every(({ memberId }) => memberId > context.engineId) ? [own] : [];
  });
}

function isOf(owner: Binding['owner'], engine: RemoteEngine): boolean {
  return owner instanceof RemoteOwner && owner.engine === engine;
}

function callOwner(context: RouterContext, binding: Binding, payload: RawJson | undefined, depth: number): void {
  if (payload !== undefined) callTarget(context, binding, { payload: Payload.ofText(payload), depth });
}

/** It has the depth of its cause, so that a loop through a trigger ends too (I8). */
interface Event extends Cause {
  readonly payload: Payload;
}

interface Firing extends Event {
  verdict: ConditionVerdict | undefined;
}

export class Firings {
  readonly #context: RouterContext;
  /** Firings that wait for their turn: by binding, then by order key; oldest first. */
  readonly #waiting = new Map<Binding, Map<string, Firing[]>>();

  constructor(context: RouterContext) {
    this.#context = context;
  }

  /** See `RouterPort.fire`. */
  fire(bindings: Iterable<Binding>, event: Event, order: string): void {
    for (const binding of distinctBindings(trustedFirst(bindings))) {
      const functionId = binding.conditionFunctionId;
      if (functionId === undefined) callTarget(this.#context, binding, event);
      else this.#ask(binding, functionId, event, order);
    }
  }

  #ask(binding: Binding, functionId: string, event: Event, order: string): void {
    const firing: Firing = { ...event, verdict: undefined };
    const lines = this.#waiting.get(binding) ?? new Map<string, Firing[]>();
    const line = lines.get(order) ?? [];
    this.#waiting.set(binding, lines);
    lines.set(order, line);
    line.push(firing);
    askCondition(this.#context, { ...event, functionId, binding }, (verdict, error) => {
      firing.verdict = verdict;
      binding.error = error;
      this.#release(binding, order);
    });
  }

  #release(binding: Binding, order: string): void {
    const lines = this.#waiting.get(binding);
    const line = lines?.get(order);
    if (lines === undefined || line === undefined) return;
    for (let [head] = line; head?.verdict !== undefined; [head] = line) {
      line.shift();
      if (head.verdict === 'pass' && isBound(this.#context, binding)) callTarget(this.#context, binding, head);
    }
    // A target inside the engine may have fired the same binding meanwhile: its new firings must stay.
    if (line.length === 0 && lines.get(order) === line) lines.delete(order);
    if (lines.size === 0 && this.#waiting.get(binding) === lines) this.#waiting.delete(binding);
  }
}

/** Whether the binding is still the one that the event was meant for: it may have left meanwhile. */
export function isBound(context: RouterContext, binding: Binding): boolean {
  return context.triggers.binding(binding.id) === binding && binding.state === 'bound';
}

/** What a part of the engine that follows its firings needs in addition to the call. */
interface Watched {
  readonly timeoutMs: number;
  readonly done: () => void;
}

/** Calls the function of one binding, after its condition passed. */
export function callTarget(context: RouterContext, binding: Binding, event: Event, watched?: Watched): void {
  const { payload, depth, baggage } = event;
  const refusal = firingRefusal(context, binding.owner, binding.functionId);
  if (refusal !== undefined) {
    binding.error = refusal.line;
    return watched?.done();
  }
  const begun = context.observer && beginFiring(context.observer, context.quietTraces, binding, event);
  binding.lastFiredAtMs = context.clock.nowMs();
  binding.error = undefined;
  callLocally(
    context,
    {
      functionId: binding.functionId,
      payload,
      metadata: binding.metadata && Payload.ofText(binding.metadata),
      traceparent: contextOf(begun, event.traceparent),
      baggage,
      depth,
      timeoutMs: watched?.timeoutMs,
      binding,
    },
    (outcome) => {
      watched?.done();
      endOutcome(context.observer, spanOf(begun), outcome);
      const error = outcome.error?.asText();
      if (error === undefined) return;
      binding.error = errorLine(error);
      context.counters.count('triggers.failed');
      context.logger.warn('A trigger failed', {
        trigger_type: binding.type,
        function_id: binding.functionId,
        error: binding.error,
      });
    },
  );
}

export interface QueuedFiring {
  readonly payload: Payload;
  readonly queue: string;
  /** Identifies the firing: the same firing is the same job, however often it is enqueued. */
  readonly key: string;
}

/** `refused`: the binding holds the reason. */
export type QueuedVerdict = 'queued' | 'condition' | 'left' | 'refused';

/** `done` is called once, with `queued` when the job is durable. */
export function enqueueFiring(
  context: RouterContext,
  binding: Binding,
  firing: QueuedFiring,
  done: (verdict: QueuedVerdict) => void,
): void {
  const functionId = binding.conditionFunctionId;
  if (functionId === undefined) return take(context, binding, firing, done);
  askCondition(context, { functionId, payload: firing.payload, depth: 0, binding }, (verdict, error) => {
    binding.error = error;
    if (verdict === 'pass') take(context, binding, firing, done);
    else done('condition');
  });
}

function take(
  context: RouterContext,
  binding: Binding,
  { payload, queue, key }: QueuedFiring,
  done: (verdict: QueuedVerdict) => void,
): void {
  if (!isBound(context, binding)) return done('left');
  binding.lastFiredAtMs = context.clock.nowMs();
  binding.error = undefined;
  const end = (answer: EnqueueAnswer): void => {
    if (!('reason' in answer)) return done('queued');
    binding.error = `${answer.reason}: ${answer.message}`;
    context.counters.count('enqueue.refused', answer.reason);
    done('refused');
  };
  if (context.jobTaker === undefined) return end({ reason: 'QUEUE_NOT_FOUND', message: 'No queue module is loaded' });
  context.jobTaker.take(
    {
      functionId: binding.functionId,
      payload,
      metadata: binding.metadata,
      traceparent: undefined,
      baggage: undefined,
      action: { type: 'enqueue', queue, idempotency_key: key },
      trigger: { id: registeredIdOf(binding), type: binding.type },
      rights: rightsToKeep(binding),
    },
    end,
  );
}
