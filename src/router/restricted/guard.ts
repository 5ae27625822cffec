// The checks between the engine and a connection that is not fully trusted: one of a restricted port (`rbac`), or of a
// port with middleware. A trusted connection has no guard, and pays nothing for it.
//
// A prefix or a hook may register something under another name than the connection chose. The connection keeps using
// its own names, the engine the effective ones; `ClientNames` translates.

import type { Access } from '../../core/access/access.ts';
import type { MessageRate } from '../../core/limits/message-rate.ts';
import type { RegisterTrigger } from '../../protocol/frames/frames.ts';
import type { RawJson } from '../../protocol/json/byte-string.ts';
import type { ControlFrame } from '../session/wire.ts';

/** The client's own name and the effective name, looked up by either. */
class NamePairs {
  readonly #counting = new Map<string, string>();
  readonly #own = new Map<string, string>();

  pair(own: string, counting: string): void {
    this.drop(own);
    // A hook can give one effective name to one own name after the other: the last one has it.
    this.dropCounting(counting);
    if (own === counting) return;
    this.#counting.set(own, counting);
    this.#own.set(counting, own);
  }

  drop(own: string): void {
    const counting = this.#counting.get(own);
    if (counting !== undefined && this.#own.get(counting) === own) this.#own.delete(counting);
    this.#counting.delete(own);
  }

  dropCounting(counting: string): void {
    const own = this.#own.get(counting);
    if (own !== undefined) this.drop(own);
  }

  /** Names without a pair are the same on both sides. */
  counting(own: string): string {
    return this.#counting.get(own) ?? own;
  }

  own(counting: string): string {
    return this.#own.get(counting) ?? counting;
  }

  /** Whether another of its own names has this effective name already. */
  isTaken(own: string, counting: string): boolean {
    return this.#own.has(counting) && this.#own.get(counting) !== own;
  }
}

type TriggerNames = Pick<RegisterTrigger<RawJson>, 'id' | 'trigger_type' | 'function_id'>;

export class ClientNames {
  readonly functions = new NamePairs();
  readonly triggerTypes = new NamePairs();
  readonly triggers = new NamePairs();
  /** The connection's own description of its triggers, by effective id. */
  readonly #saidOfTriggers = new Map<string, TriggerNames>();

  noteTrigger(countingId: string, said: TriggerNames): void {
    this.triggers.pair(said.id, countingId);
    this.#saidOfTriggers.set(countingId, said);
  }

  dropTrigger(ownId: string): void {
    this.#saidOfTriggers.delete(this.triggers.counting(ownId));
    this.triggers.drop(ownId);
  }

  /** Another connection has the trigger now. */
  triggerTaken(countingId: string): void {
    this.#saidOfTriggers.delete(countingId);
    this.triggers.dropCounting(countingId);
  }

  /** The frame with the connection's own names. */
  translate(frame: ControlFrame): ControlFrame {
    switch (frame.type) {
      case 'registrationrejected':
        return frame.trigger_type === undefined
          ? { ...frame, function_id: this.functions.own(frame.function_id) }
          : { ...frame, trigger_type: this.triggerTypes.own(frame.trigger_type) };
      case 'triggerregistrationresult': {
        const said = this.#saidOfTriggers.get(frame.id);
        return said === undefined ? frame : { ...frame, ...said };
      }
      case 'registertrigger':
      case 'unregistertrigger': {
        const { trigger_type: type } = frame;
        return type === undefined ? frame : { ...frame, trigger_type: this.triggerTypes.own(type) };
      }
      default:
        return frame;
    }
  }
}

/** Functions that are asked about registrations (wire 8.5). */
export interface RegistrationHooks {
  readonly functions: string | undefined;
  readonly triggers: string | undefined;
  readonly triggerTypes: string | undefined;
}

/** Functions that the configuration of a port calls, as it is now: it may change while connections are open. */
export interface PortFunctions {
  readonly hooks: RegistrationHooks;
  readonly middlewareFunctionId: string | undefined;
}

export interface GuardRules {
  /** `undefined`: a trusted connection, on a port with middleware. */
  readonly access: Access | undefined;
  readonly rate: MessageRate | undefined;
  /** Of the calls of functions of the engine that its triggers make. */
  readonly firingRate: MessageRate | undefined;
  readonly port: PortFunctions;
  /** Monotonic time until which the connection must have registered or called something. */
  readonly idleUntilMs: number;
  /** Monotonic time at which the connection has to authenticate again, with a new connection (X12). */
  readonly expiresAtMs: number;
  /** How long a hook or the middleware may take. */
  readonly askMsMax: number;
}

/** A step of a connection's registrations that waits for earlier ones. */
export interface WaitingStep {
  readonly bytes: number;
  readonly run: () => void;
}

export class Guard {
  readonly rules: GuardRules;
  readonly names = new ClientNames();
  /** Whether it has registered or called anything. */
  isEngaged = false;
  /** Frames that wait while a hook is asked about an earlier one, or while the worker moves here. */
  readonly waiting: WaitingStep[] = [];
  waitingBytes = 0;
  /** How much they wait for. */
  awaited = 0;
  /** The waiting frames are being handled. */
  isTakingTurns = false;

  constructor(rules: GuardRules) {
    this.rules = rules;
  }

  isIdleTooLong(nowMs: number): boolean {
    return !this.isEngaged && nowMs >= this.rules.idleUntilMs;
  }
}
