// The provider's side of trigger types of our own: hands bindings to the program and tells the engine what it said.
//
// Neighbours: `registrations.ts` knows the providers, `worker.ts` passes the frames and what becomes of connections.
//
// T1  What one binding gets is done in the order the engine sent it, also when the provider takes its time.
// T2  After a reconnect the program holds exactly the bindings the engine has sent since: whatever was removed while
//     there was no connection is given up then, or it would fire for ever.

import type { ErrorBody, RegisterTrigger } from '../protocol/frames.ts';
import type { Link } from './link.ts';
import type { Settings } from './options.ts';
import type { Registrations } from './registrations.ts';
import { errorToAnswer } from './remote-error.ts';
import type { TriggerBinding, TriggerTypeProvider } from './trigger-definition.ts';
import { encodeFrame } from './wire.ts';

export class TriggerTypes {
  readonly #registrations: Registrations;
  readonly #settings: Settings;
  readonly #held = new Map<string, HeldBinding>();
  /** The last thing to be done for a binding, by id; none of them rejects. */
  readonly #turns = new Map<string, Promise<void>>();

  constructor(registrations: Registrations, settings: Settings) {
    this.#registrations = registrations;
    this.#settings = settings;
  }

  get holdsAny(): boolean {
    return this.#held.size > 0;
  }

  register(frame: RegisterTrigger<unknown>, link: Link): void {
    const { id, trigger_type, function_id, config, metadata } = frame;
    const provider = this.#registrations.triggerTypes.get(trigger_type)?.provider;
    if (provider === undefined) {
      const message = `this worker does not provide the trigger type '${trigger_type}'`;
      this.#answer(frame, link, { code: 'trigger_type_not_found', message });
      return;
    }
    const held = { binding: { id, type: trigger_type, function_id, config, metadata }, provider, link };
    this.#held.set(id, held);
    this.#inTurn(id, async () => {
      try {
        await provider.registerTrigger(held.binding);
        this.#answer(frame, link, undefined);
      } catch (thrown) {
        if (this.#held.get(id) === held) this.#held.delete(id);
        this.#answer(frame, link, { code: 'trigger_registration_failed', message: errorToAnswer(thrown).message });
      }
    });
  }

  unregister(id: string): void {
    const held = this.#held.get(id);
    if (held !== undefined) this.#giveUp(held);
  }

  /** T2: called when the engine has sent all the bindings it has on `link`. */
  giveUpOthersThan(link: Link): void {
    for (const held of [...this.#held.values()]) if (held.link !== link) this.#giveUp(held);
  }

  /** The type is withdrawn; its bindings wait in the engine for the next provider. */
  giveUpType(type: string): void {
    for (const held of [...this.#held.values()]) if (held.binding.type === type) this.#giveUp(held);
  }

  #giveUp({ binding, provider }: HeldBinding): void {
    const { id, type } = binding;
    this.#held.delete(id);
    this.#inTurn(id, async () => {
      try {
        await provider.unregisterTrigger(binding);
      } catch (thrown) {
        const { message } = errorToAnswer(thrown);
        this.#settings.log('error', `trigger type '${type}' could not give up the binding '${id}': ${message}`);
      }
    });
  }

  #inTurn(id: string, act: () => Promise<void>): void {
    const turn = (this.#turns.get(id) ?? Promise.resolve()).then(act).then(() => {
      if (this.#turns.get(id) === turn) this.#turns.delete(id);
    });
    this.#turns.set(id, turn);
  }

  #answer({ id, trigger_type, function_id }: RegisterTrigger<unknown>, link: Link, error: ErrorBody | undefined): void {
    const result = { type: 'triggerregistrationresult', id, trigger_type, function_id } as const;
    link.sendFrame(encodeFrame(error === undefined ? result : { ...result, error }));
  }
}

/** A binding the program has, or is about to be given. */
interface HeldBinding {
  readonly binding: TriggerBinding;
  readonly provider: TriggerTypeProvider;
  /** The connection that brought it. */
  readonly link: Link;
}
