// A prefix or a hook may give what a connection registers another name than its own. The connection goes on speaking
// of its own names, the engine of those that count; this is where one becomes the other.

import type { RawJson } from '../protocol/byte-string.ts';
import type { RegisterTrigger } from '../protocol/frames.ts';
import type { ControlFrame } from './wire.ts';

/** Own name and name that counts, looked up by either. */
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

  /** Names that were never paired are the same on both sides. */
  counting(own: string): string {
    return this.#counting.get(own) ?? own;
  }

  own(counting: string): string {
    return this.#own.get(counting) ?? counting;
  }

  /** Whether another of its own names counts as this one already. */
  isTaken(own: string, counting: string): boolean {
    return this.#own.has(counting) && this.#own.get(counting) !== own;
  }
}

type TriggerNames = Pick<RegisterTrigger<RawJson>, 'id' | 'trigger_type' | 'function_id'>;

export class ClientNames {
  readonly functions = new NamePairs();
  readonly triggerTypes = new NamePairs();
  readonly triggers = new NamePairs();
  /** What the connection said of its triggers, by the id that counts. */
  readonly #saidOfTriggers = new Map<string, TriggerNames>();

  noteTrigger(countingId: string, said: TriggerNames): void {
    this.triggers.pair(said.id, countingId);
    this.#saidOfTriggers.set(countingId, said);
  }

  dropTrigger(ownId: string): void {
    this.#saidOfTriggers.delete(this.triggers.counting(ownId));
    this.triggers.drop(ownId);
  }

  /** The frame in the connection's own words. */
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
