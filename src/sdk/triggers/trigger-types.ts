// The provider's side of custom trigger types: passes triggers to the program and reports its answer to the engine.
//
// Neighbours: `registrations.ts` holds the providers, `worker.ts` passes the frames and changes of the connection.
//
// - Messages for one trigger are handled in the order the engine sent them, even if the provider is slow.
// - After a reconnect the program holds exactly the triggers that the engine has sent since. Triggers that were removed
//   while there was no connection are given up then; otherwise they would fire for ever.

import type { ErrorBody, RegisterTrigger } from '../../protocol/frames/frames.ts';
import { errorToAnswer } from '../calls/remote-error.ts';
import type { Link } from '../connection/link.ts';
import { encodeFrame } from '../wire/wire.ts';
import type { Settings } from '../worker/options.ts';
import type { Registrations } from '../worker/registrations.ts';
import type { TriggerBinding, TriggerTypeProvider } from './trigger-definition.ts';

export class TriggerTypes {
  readonly #registrations: Registrations;
  readonly #settings: Settings;
  readonly #held = new Map<string, HeldBinding>();
  /** The last pending step of each trigger, by id; none of them rejects. */
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

  /** Gives up triggers that no longer exist. Called when the engine has sent all its triggers on `link`. */
  giveUpOthersThan(link: Link): void {
    for (const held of [...this.#held.values()]) if (held.link !== link) this.#giveUp(held);
  }

  /** The type is withdrawn; its triggers wait in the engine for the next provider. */
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

/** A trigger that the program has, or is about to get. */
interface HeldBinding {
  readonly binding: TriggerBinding;
  readonly provider: TriggerTypeProvider;
  /** The connection on which it arrived. */
  readonly link: Link;
}
