// A prefix or a hook may register something under another name than the connection chose. The connection keeps using
// its own names, the engine the effective ones; this file translates.

import type { RegisterTrigger } from '../../protocol/frames/frames.ts';
import type { RawJson } from '../../protocol/json/byte-string.ts';
import type { ControlFrame } from '../session/wire.ts';

/** The client's own name and the effective name, looked up by either. */
class NamePairs {
  readonly #counting = new Map<string, string>();
  readonly #own = new Map<string, string>();

  pair(own: string, counting: string): void {
    this.drop(own);
    if (own === counting) return;
    this.#counting.set(own, counting);
    this.#own.set(counting, own);
  }

  drop(own: string): void {
    const counting = this.#counting.get(own);
    if (counting !== undefined && this.#own.get(counting) === own) this.#own.delete(counting);
    this.#counting.delete(own);
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
