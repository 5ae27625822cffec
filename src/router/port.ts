// What modules may ask of the router and tell it. Everything a module does to other parts of the engine goes
// through here, so that access, depth, deadlines and tracing apply to all alike.

import type { Registrations } from '../core/access.ts';
import { Refusal } from '../core/refusal.ts';
import type { NewBinding, TriggerType } from '../core/trigger-table.ts';
import { type RawJson, rawJson } from '../protocol/byte-string.ts';
import type { TriggerOrigin, WorkerAnnouncement } from '../protocol/frames.ts';
import { REGISTRATION_BYTES_MAX } from '../protocol/limits.ts';
import type { Payload } from '../protocol/payload.ts';
import type { Binding, ModuleTriggerType } from './builtin.ts';
import { callLocally, type LocalCall } from './call-locally.ts';
import type { Channels } from './channels.ts';
import { askCondition, type ConditionVerdict } from './condition.ts';
import type { JobTaker, RouterContext } from './context.ts';
import { errorLine } from './error-text.ts';
import { callTarget, Firings, isBound } from './fire-trigger.ts';
import { sizeOf } from './functions.ts';
import { registrationsOf } from './reach.ts';
import type { Outcome } from './reply.ts';
import {
  type Entry,
  type FunctionRow,
  functionRow,
  type TriggerRow,
  type TriggerTypeRow,
  triggerRow,
  triggerTypeRow,
  type WorkerRow,
  workerRow,
} from './rows.ts';
import type { Session } from './session.ts';
import { bind, unbind } from './triggers.ts';

export interface DurableTrigger {
  readonly type: string;
  readonly functionId: string;
  readonly config: unknown;
  readonly metadata: unknown;
}

export interface FiringLimits {
  readonly depth: number;
  readonly timeoutMs: number;
}

/** Triggers that no connection owns; whoever may bind them can also take them away. */
const DURABLE_TRIGGERS_MAX = 10_000;
/** How long a worker that provides a trigger type may take to judge a binding before silence counts as a yes. */
const VERDICT_WAIT_MS = 10_000;

export class RouterPort {
  /** The functions there are, for those who judge what may be reached. */
  readonly registrations: Registrations;
  readonly #context: RouterContext;
  readonly #firings: Firings;

  constructor(context: RouterContext) {
    this.#context = context;
    this.registrations = registrationsOf(context.functions);
    this.#firings = new Firings(context);
  }

  /** When the engine started, Unix milliseconds. */
  get startedAtMs(): number {
    return this.#context.startedAtMs;
  }

  get nowMs(): number {
    return this.#context.clock.nowMs();
  }

  /** Whether the engine answers as the peer does (decisions 1). */
  get isDropIn(): boolean {
    return this.#context.settings.isDropIn;
  }

  get isDraining(): boolean {
    return this.#context.isDraining;
  }

  /** Pipes for bytes and text beside the calls. */
  get channels(): Channels {
    return this.#context.channels;
  }

  /** Calls a function. `done` is told once, at once or later; payloads of the outcome are valid until it returns. */
  call(call: LocalCall, done: (outcome: Outcome) => void): void {
    callLocally(this.#context, call, done);
  }

  /** From now on calls with the action `enqueue` go there. */
  takeJobs(taker: JobTaker): void {
    this.#context.jobTaker = taker;
  }

  /** Functions came or went: told within 250 ms. */
  onFunctionsChanged(tell: () => void): void {
    this.#context.functionListeners.add(tell);
  }

  /** Asks the condition of a trigger about an event (T8). `done` is told once, at once or later. */
  checkCondition(
    functionId: string,
    payload: Payload,
    depth: number,
    done: (verdict: ConditionVerdict) => void,
    trigger?: TriggerOrigin,
  ): void {
    askCondition(this.#context, { functionId, payload, depth, trigger }, done);
  }

  /**
   * An event happened: calls the functions of these bindings, equal ones of different owners once, each after its
   * condition passed; nobody waits for them. `depth`: of the call that caused the event, 0 for causes from outside.
   * `order`: what the event is about; handlers of one binding are called in the order in which events of the same
   * order were fired. The payload has to stay valid until the conditions have answered: text, or bytes of its own.
   */
  fire(bindings: Iterable<Binding>, payload: Payload, depth: number, order = ''): void {
    this.#firings.fire(bindings, { payload, depth }, order);
  }

  /**
   * The same for one binding: `done` is told when its function has ended, or when it was not called, be it that the
   * condition did not pass or that the binding left meanwhile.
   */
  fireOne(binding: Binding, payload: Payload, { depth, timeoutMs }: FiringLimits, done: () => void): void {
    const call = (): void => {
      if (isBound(this.#context, binding)) callTarget(this.#context, binding, { payload, depth }, { timeoutMs, done });
      else done();
    };
    const functionId = binding.conditionFunctionId;
    if (functionId === undefined) return call();
    const trigger = { type: binding.type, id: binding.id };
    askCondition(this.#context, { functionId, payload, depth, trigger }, (verdict, error) => {
      binding.error = error;
      if (verdict === 'pass') call();
      else done();
    });
  }

  /** Notes that something was dropped or refused. */
  count(name: string, reason: string): void {
    this.#context.counters.count(name, reason);
  }

  counters(): Record<string, number> {
    return this.#context.counters.snapshot();
  }

  functions(): Iterable<Entry> {
    return this.#context.functions.all();
  }

  functionEntry(id: string): Entry | undefined {
    return this.#context.functions.get(id);
  }

  functionRow(entry: Entry): FunctionRow {
    return functionRow(this.#context, entry);
  }

  /** Connections that are workers: a connection that only calls is not shown. */
  workers(): Session[] {
    return [...this.#context.sessions.values()].filter((session) => session.isWorker);
  }

  workerRow(session: Session): WorkerRow {
    return workerRow(this.#context, session);
  }

  triggerTypes(): Iterable<TriggerType<Session, ModuleTriggerType>> {
    return this.#context.triggers.types();
  }

  triggerType(id: string): TriggerType<Session, ModuleTriggerType> | undefined {
    return this.#context.triggers.type(id);
  }

  triggerTypeRow(type: TriggerType<Session, ModuleTriggerType>): TriggerTypeRow {
    return triggerTypeRow(type);
  }

  triggers(): Iterable<Binding> {
    return this.#context.triggers.bindings();
  }

  triggersTo(functionId: string): Iterable<Binding> {
    return this.#context.triggers.bindingsTo(functionId);
  }

  trigger(id: string): Binding | undefined {
    return this.#context.triggers.binding(id);
  }

  triggerRow(binding: Binding): TriggerRow {
    return triggerRow(this.#context, binding);
  }

  /** A worker says who it is. */
  announceWorker(workerId: string, profile: WorkerAnnouncement, depth: number): void {
    const session = this.#context.sessions.get(workerId);
    if (session === undefined) return;
    session.describe(profile);
    this.#context.announce.workerEvent('worker_metadata_updated', workerId, depth);
  }

  /** Binds a trigger that no connection owns. Rejects with the provider's refusal. */
  async bindDurable(trigger: DurableTrigger): Promise<string> {
    const context = this.#context;
    if (context.triggers.durableCount >= DURABLE_TRIGGERS_MAX) {
      throw new Refusal('OVERLOADED', `The engine is at its limit of ${DURABLE_TRIGGERS_MAX} durable triggers`);
    }
    const request = durableBinding(context.random.uuid(), trigger);
    const bytes = sizeOf(request.config, request.metadata);
    if (bytes > REGISTRATION_BYTES_MAX) {
      const text = `config and metadata take ${bytes} bytes, over the limit of ${REGISTRATION_BYTES_MAX}`;
      throw new Refusal('BAD_REQUEST', text);
    }
    const { binding, refusal } = bind(context, request);
    const isJudgedByWorker = context.triggers.type(trigger.type)?.provider.kind === 'worker';
    const verdict = refusal ?? (isJudgedByWorker ? await this.#waitForVerdict(binding.id) : undefined);
    if (verdict === undefined) return binding.id;
    context.triggers.remove(binding);
    throw verdict;
  }

  /** Binds a trigger of an earlier run under its old id. It stays listed, also when its provider refuses it now. */
  restoreDurable(id: string, trigger: DurableTrigger): Refusal | undefined {
    return bind(this.#context, durableBinding(id, trigger)).refusal;
  }

  /** Takes away a trigger that no connection owns. Returns whether there was one. */
  unbindDurable(id: string): boolean {
    const binding = this.#context.triggers.binding(id);
    if (binding === undefined || binding.owner !== undefined) return false;
    unbind(this.#context, binding);
    return true;
  }

  #waitForVerdict(triggerId: string): Promise<Refusal | undefined> {
    const { verdicts, clock } = this.#context;
    return new Promise((resolve) => {
      const end = (error: RawJson | undefined): void => {
        cancel();
        verdicts.delete(triggerId);
        resolve(error === undefined ? undefined : new Refusal('trigger_registration_failed', errorLine(error)));
      };
      const cancel = clock.after(VERDICT_WAIT_MS, () => end(undefined));
      verdicts.set(triggerId, end);
    });
  }
}

function durableBinding(id: string, { type, functionId, config, metadata }: DurableTrigger): NewBinding<Session> {
  return {
    id,
    type,
    functionId,
    config: rawJson(config),
    metadata: metadata === undefined ? undefined : rawJson(metadata),
    owner: undefined,
  };
}
