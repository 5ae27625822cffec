// What modules may ask of the router and report to it. All that a module does to other parts of the engine goes through
// here, so that access, depth, deadlines and tracing apply to all alike.

import type { PolicyInForce, Registrations } from '../core/access/access.ts';
import type { KeptRights } from '../core/access/kept-rights.ts';
import type { Reservations, ReservedKind } from '../core/access/reservations.ts';
import { Refusal } from '../core/calls/refusal.ts';
import type { WorkerCounts } from '../core/cluster/status.ts';
import type { Pressure } from '../core/limits/pressure.ts';
import type { EnqueueAnswer, EnqueueRules } from '../core/queue/shapes.ts';
import type { NewBinding, TriggerType } from '../core/registry/trigger-table.ts';
import type { QuietTraces } from '../core/telemetry/logs/quiet-traces.ts';
import type { Collector } from '../core/telemetry/spans/collector.ts';
import type { WorkerAnnouncement } from '../protocol/frames/frames.ts';
import { REGISTRATION_BYTES_MAX } from '../protocol/frames/limits.ts';
import { type RawJson, rawJson } from '../protocol/json/byte-string.ts';
import type { Payload } from '../protocol/payload/payload.ts';
import {
  type AnyBuiltin,
  type Binding,
  builtinEntry,
  type Cause,
  type JobRequest,
  type JobTaker,
  type JobTarget,
  type ModuleTriggerType,
  type QueueJudge,
} from './builtin.ts';
import { errorLine, type Outcome } from './calls/call.ts';
import { callLocally, deliverLocally, type LocalAction, type LocalCall } from './calls/call-locally.ts';
import type { Channels } from './channels/channels.ts';
import { loadOf, type RouterContext, type RouterLoad, type RouterPressure } from './context.ts';
import { reserve, sizeOf } from './registrations/functions.ts';
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
} from './registrations/rows.ts';
import { type Move, replaceMoved } from './remote/moved-workers.ts';
import { OthersPort } from './remote/others-port.ts';
import { isOffered, registrationsOf } from './restricted/reach.ts';
import { noteWorker } from './session/observe.ts';
import type { Session } from './session/session.ts';
import { closeExpired } from './session/withdraw.ts';
import { askCondition, type ConditionQuestion, type ConditionVerdict } from './triggers/condition.ts';
import {
  callTarget,
  enqueueFiring,
  Firings,
  isBound,
  type QueuedFiring,
  type QueuedVerdict,
} from './triggers/fire-trigger.ts';
import { bind, judgedElsewhere, providerOf, unbind } from './triggers/triggers.ts';

export interface DurableTrigger {
  readonly type: string;
  readonly functionId: string;
  readonly config: unknown;
  readonly metadata: unknown;
}

export interface FiringLimits extends Cause {
  readonly timeoutMs: number;
}

const NO_QUEUES = 'No queue module is loaded (svc-queue)';
/** Triggers that no connection owns. A caller that may bind them may also remove them. */
const DURABLE_TRIGGERS_MAX = 10_000;
/** How long a worker that provides a trigger type may take to judge a binding before silence counts as acceptance. */
const VERDICT_WAIT_MS = 10_000;

export class RouterPort {
  /** The existing functions, for code that judges what may be reached. */
  readonly registrations: Registrations;
  readonly quietTraces: QuietTraces;
  /** The other engines of the cluster and routers of this process. */
  readonly others: OthersPort;
  readonly #context: RouterContext;
  readonly #firings: Firings;

  constructor(context: RouterContext) {
    this.#context = context;
    this.registrations = registrationsOf(context.functions);
    this.quietTraces = context.quietTraces;
    this.others = new OthersPort(context);
    this.#firings = new Firings(context);
  }

  /** When the engine started, Unix milliseconds. */
  get startedAtMs(): number {
    return this.#context.startedAtMs;
  }

  get nowMs(): number {
    return this.#context.clock.nowMs();
  }

  /** Whether the engine answers as `iii` does (PD-1). */
  get isDropIn(): boolean {
    return this.#context.settings.isDropIn;
  }

  get isDraining(): boolean {
    return this.#context.isDraining;
  }

  /** It does not drain, or lets workers and callers move first. */
  get takesNewWork(): boolean {
    return !this.#context.isDraining || this.#context.isMoving;
  }

  /** Other engines run the jobs of this one's queues. */
  get isInCluster(): boolean {
    return this.#context.settings.isInCluster === true;
  }

  /** Whether a worker of this engine offers functions. */
  get hasWorkers(): boolean {
    const { sessions, otherRouters } = this.#context;
    return [...sessions.values(), ...otherRouters].some(({ functions }) => functions.size > 0);
  }

  /** Pipes for bytes and text next to the calls. */
  get channels(): Channels {
    return this.#context.channels;
  }

  /** Calls a function. `done` is called once, at once or later; payloads of the outcome are valid until it returns. */
  call(call: LocalCall, done: (outcome: Outcome) => void): void {
    callLocally(this.#context, call, done);
  }

  /** Makes a fire-and-forget call: `done` is called once it is accepted, with its receipt if it is a job. */
  deliver(call: LocalCall, action: LocalAction, done: (outcome: Outcome) => void): void {
    deliverLocally(this.#context, call, action, done);
  }

  /** The pressure level of this router. Modules that act on a change listen to it. */
  get pressure(): Pressure {
    return this.#context.pressure;
  }

  /** That of the router of the process that has the highest. */
  get worstPressure(): RouterPressure {
    return this.routers.map(({ pressure }) => pressure).reduce((one, other) => (other.level > one.level ? other : one));
  }

  get callsInFlight(): number {
    return this.#context.calls.openCount;
  }

  /** The load of each router thread of the process, this one first. */
  get routers(): RouterLoad[] {
    return [loadOf(this.#context), ...this.#context.furtherRouters.values()];
  }

  get callsInFlightMax(): number {
    return this.#context.settings.inFlightMax;
  }

  /** Rises with every change of functions, triggers and workers. */
  get registryVersion(): number {
    const { functions, triggers, workerChanges } = this.#context;
    return functions.version + triggers.version + workerChanges;
  }

  /** Ends a connection of a restricted port after this turn, so that the caller of this is answered first. */
  revoke(workerId: string): 'revoked' | 'trusted' | 'unknown' {
    const session = this.#context.sessions.get(workerId);
    if (session === undefined) return 'unknown';
    if (session.access === undefined) return 'trusted';
    this.revokeWhere((one) => one === session, 'the connection was revoked');
    return 'revoked';
  }

  /** The same for all connections that match; connections of trusted ports never do. */
  revokeWhere(isMeant: (session: Session) => boolean, reason: string): void {
    const { sessions, clock } = this.#context;
    const meant = [...sessions.values()].filter((session) => session.access !== undefined && isMeant(session));
    clock.afterTurn(() => {
      for (const session of meant) if (session.state === 'open') closeExpired(this.#context, session, reason);
    });
  }

  /** What a restricted port allows, until the returned function is called. */
  addPortPolicy(inForce: PolicyInForce): () => void {
    return this.#context.portPolicies.add(inForce);
  }

  /** Reports everything that happens from now on to the collector. */
  observe(observer: Collector): void {
    this.#context.observer = observer;
  }

  /** `undefined` while nothing is observed. */
  get observer(): Collector | undefined {
    return this.#context.observer;
  }

  /**
   * A function of a module that comes and goes while the module runs. `undefined`: the id is taken. Returns a function
   * that removes it.
   */
  offer(module: string, definition: AnyBuiltin): (() => void) | undefined {
    const { functions, announce } = this.#context;
    if (functions.get(definition.id) !== undefined) return undefined;
    const entry = builtinEntry(module, definition);
    functions.addBuiltin(entry);
    reserve(this.#context, 'function', entry.id);
    announce.functionsChanged();
    announce.modulesChanged();
    return () => {
      functions.removeBuiltin(entry);
      announce.functionsChanged();
      announce.modulesChanged();
    };
  }

  /** Sends calls with the action `enqueue` there from now on, until the returned function is called. */
  takeJobs(taker: JobTaker): () => void {
    this.#context.jobTaker = taker;
    this.queuesChanged();
    return () => {
      if (this.#context.jobTaker !== taker) return;
      this.#context.jobTaker = undefined;
      this.queuesChanged();
    };
  }

  /** Queues came or went, or their rules changed. */
  queuesChanged(): void {
    for (const listener of this.#context.queueListeners) listener();
  }

  /** Returns a function that ends it. */
  onQueuesChanged(listener: () => void): () => void {
    this.#context.queueListeners.add(listener);
    return () => this.#context.queueListeners.delete(listener);
  }

  /** Asked before the rules of a queue change; a text: why they cannot. Returns a function that ends it. */
  onQueueJudged(judge: QueueJudge): () => void {
    this.#context.queueJudges.add(judge);
    return () => this.#context.queueJudges.delete(judge);
  }

  /** Why the queue cannot have these rules. */
  judgeQueue(queue: string, rules: EnqueueRules): string | undefined {
    return [...this.#context.queueJudges].map((judge) => judge(queue, rules)).find((offence) => offence !== undefined);
  }

  /** The queue of a trigger that names one; a text: why there is none. */
  jobTarget(queue: string): JobTarget | string {
    return this.#context.jobTaker?.target(queue) ?? NO_QUEUES;
  }

  get jobTaker(): JobTaker | undefined {
    return this.#context.jobTaker;
  }

  /** Whether jobs with these rights share the queue with trusted jobs. */
  sharesQueue(rights: KeptRights, queue: string): boolean {
    return this.#context.portPolicies.sharesQueue(rights, queue);
  }

  /** Whether another engine of the cluster has to run work with these rights, because this one lacks their port. */
  isForOtherEngine(rights: KeptRights): boolean {
    return this.#context.settings.isInCluster === true && !this.#context.portPolicies.knows(rights);
  }

  /** A job of a trigger whose change is durable already. Called once. */
  takeJob(job: JobRequest, done: (answer: EnqueueAnswer) => void): void {
    if (this.#context.jobTaker === undefined) done({ reason: 'QUEUE_NOT_FOUND', message: NO_QUEUES });
    else this.#context.jobTaker.take(job, done);
  }

  /** Functions came or went: called within 250 ms. Returns a function that ends it. */
  onFunctionsChanged(listener: () => void): () => void {
    this.#context.functionListeners.add(listener);
    return () => this.#context.functionListeners.delete(listener);
  }

  /**
   * Asks the condition of a trigger about an event (T8). The binding may be gone, as with a job that it made. `done` is
   * called once, at once or later.
   */
  checkCondition(question: ConditionQuestion, done: (verdict: ConditionVerdict) => void): void {
    askCondition(this.#context, question, done);
  }

  /** The same for a binding; one without a condition passes. */
  checkBinding(
    binding: Binding,
    payload: Payload,
    { depth, traceparent, baggage, isForRestricted }: Cause & Pick<ConditionQuestion, 'isForRestricted'>,
    done: (verdict: ConditionVerdict) => void,
  ): void {
    const functionId = binding.conditionFunctionId;
    if (functionId === undefined) return done('pass');
    askCondition(this.#context, { functionId, payload, depth, traceparent, baggage, isForRestricted, binding }, done);
  }

  /**
   * An event happened: calls the functions of these bindings, equal ones of different owners once, each after its
   * condition passed, as fire-and-forget calls. `cause`: the call that caused the event. `order`: what the event is
   * about; handlers of one binding are called in the order in which events of the same order were fired. The payload
   * has to stay valid until the conditions have answered: text, or bytes of its own.
   */
  fire(bindings: Iterable<Binding>, payload: Payload, { depth, traceparent, baggage }: Cause, order = ''): void {
    this.#firings.fire(bindings, { payload, depth, traceparent, baggage }, order);
  }

  /**
   * The same for one binding: `done` is called when its function has ended, or when it was not called because the
   * condition did not pass or the binding left meanwhile.
   */
  fireOne(binding: Binding, payload: Payload, { timeoutMs, ...cause }: FiringLimits, done: () => void): void {
    const call = (): void => {
      if (isBound(this.#context, binding))
        callTarget(this.#context, binding, { payload, ...cause }, { timeoutMs, done });
      else done();
    };
    const functionId = binding.conditionFunctionId;
    if (functionId === undefined) return call();
    askCondition(this.#context, { functionId, payload, ...cause, binding }, (verdict, error) => {
      binding.error = error;
      if (verdict === 'pass') call();
      else done();
    });
  }

  /** The same as a job of a queue: `done` is called when the job is durable, or with the reason why there is none. */
  enqueueOne(binding: Binding, firing: QueuedFiring, done: (verdict: QueuedVerdict) => void): void {
    enqueueFiring(this.#context, binding, firing, done);
  }

  /** Notes that something was dropped or refused. */
  count(name: string, reason?: string, times = 1): void {
    this.#context.counters.count(name, reason, times);
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

  /** Whether a job of the function can run now. Trusted work runs on no restricted connection. */
  isOffered(functionId: string, isTrustedWork: boolean): boolean {
    return isOffered(this.#context, functionId, isTrustedWork);
  }

  /** Names that no restricted connection may take. */
  get reservations(): Pick<Reservations, 'has' | 'all' | 'onChange' | 'release'> {
    return this.#context.reservations;
  }

  /** A trusted connection uses the name, or used it in an earlier run. */
  reserve(kind: ReservedKind, name: string): void {
    reserve(this.#context, kind, name);
  }

  functionRow(entry: Entry): FunctionRow {
    return functionRow(this.#context, entry);
  }

  /** Connections that are workers. A connection that only calls is not listed. */
  workers(): Session[] {
    return [...this.#context.sessions.values()].filter((session) => session.isWorker);
  }

  get workerCounts(): WorkerCounts {
    return loadOf(this.#context).workers;
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

  /** A worker identifies itself. */
  announceWorker(workerId: string, profile: WorkerAnnouncement, depth: number): void {
    const session = this.#context.sessions.get(workerId);
    if (session === undefined) return;
    session.describe(profile);
    noteWorker(this.#context, session);
    this.#context.announce.workerEvent('worker_metadata_updated', workerId, depth);
  }

  /** A worker is connected to another engine now: see `router/remote/moved-workers.ts`. */
  replaceMoved(move: Move): string[] | undefined {
    return replaceMoved(this.#context, move);
  }

  /** What the provider of its type says, which is at another engine. Returns whether the trigger is known. */
  triggerJudged(triggerId: string, error: RawJson | undefined): boolean {
    return judgedElsewhere(this.#context, triggerId, error);
  }

  /** Creates a trigger that no connection owns. Rejects with the provider's refusal. */
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
    const provider = providerOf(context, binding);
    const isHere = provider?.kind === 'worker' || (provider?.kind === 'engine' && provider.engine.isRouter === true);
    const verdict = refusal ?? (isHere ? await this.#waitForVerdict(binding.id) : undefined);
    if (verdict === undefined) return binding.id;
    context.triggers.remove(binding);
    throw verdict;
  }

  /** Creates a trigger of an earlier run under its old id. It stays listed even if its provider refuses it now. */
  restoreDurable(id: string, trigger: DurableTrigger): Refusal | undefined {
    return bind(this.#context, durableBinding(id, trigger)).refusal;
  }

  /** Removes a trigger that no connection owns. Returns whether it existed. */
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
