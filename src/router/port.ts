// What modules may ask of the router and tell it. Everything a module does to other parts of the engine goes
// through here, so that access, depth, deadlines and tracing apply to all alike.

import { Refusal } from '../core/refusal.ts';
import type { TriggerBinding, TriggerType } from '../core/trigger-table.ts';
import { type RawJson, rawJson } from '../protocol/byte-string.ts';
import type { WorkerAnnouncement } from '../protocol/frames.ts';
import type { ModuleTriggerType } from './builtin.ts';
import type { Channels } from './channels.ts';
import type { RouterContext } from './context.ts';
import { errorLine } from './error-text.ts';
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

/** Triggers that no connection owns; whoever may bind them can also take them away. */
const DURABLE_TRIGGERS_MAX = 10_000;
/** How long a worker that provides a trigger type may take to judge a binding before silence counts as a yes. */
const VERDICT_WAIT_MS = 10_000;

export class RouterPort {
  readonly #context: RouterContext;

  constructor(context: RouterContext) {
    this.#context = context;
  }

  /** When the engine started, Unix milliseconds. */
  get startedAtMs(): number {
    return this.#context.startedAtMs;
  }

  get nowMs(): number {
    return this.#context.clock.nowMs();
  }

  get isDraining(): boolean {
    return this.#context.isDraining;
  }

  /** Pipes for bytes and text beside the calls. */
  get channels(): Channels {
    return this.#context.channels;
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

  triggers(): Iterable<TriggerBinding<Session>> {
    return this.#context.triggers.bindings();
  }

  triggersTo(functionId: string): Iterable<TriggerBinding<Session>> {
    return this.#context.triggers.bindingsTo(functionId);
  }

  trigger(id: string): TriggerBinding<Session> | undefined {
    return this.#context.triggers.binding(id);
  }

  triggerRow(binding: TriggerBinding<Session>): TriggerRow {
    return triggerRow(this.#context, binding);
  }

  /** A worker says who it is. */
  announceWorker(workerId: string, profile: WorkerAnnouncement, depth: number): void {
    const session = this.#context.sessions.get(workerId);
    if (session === undefined) return;
    session.profile = profile;
    this.#context.announce.workerEvent('worker_metadata_updated', workerId, depth);
  }

  /** Binds a trigger that no connection owns. Rejects with the provider's refusal. */
  async bindDurable({ type, functionId, config, metadata }: DurableTrigger): Promise<string> {
    const context = this.#context;
    if (context.triggers.durableCount >= DURABLE_TRIGGERS_MAX) {
      throw new Refusal('OVERLOADED', `The engine is at its limit of ${DURABLE_TRIGGERS_MAX} durable triggers`);
    }
    const { binding, refusal } = bind(context, {
      id: context.random.uuid(),
      type,
      functionId,
      config: rawJson(config),
      metadata: metadata === undefined ? undefined : rawJson(metadata),
      owner: undefined,
    });
    const isJudgedByWorker = context.triggers.type(type)?.provider.kind === 'worker';
    const verdict = refusal ?? (isJudgedByWorker ? await this.#waitForVerdict(binding.id) : undefined);
    if (verdict === undefined) return binding.id;
    context.triggers.remove(binding);
    throw verdict;
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
