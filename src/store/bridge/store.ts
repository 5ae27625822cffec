// A store in another engine: its functions do the work, over the worker protocol. Changes are reported by its
// triggers, whichever engine made them; so a change that this engine made is reported once too.
//
// The protocol carries no numbers of events: the promises about gaps do not hold, and health says so.
// Invariants:
//   - Every `done` is called exactly once, never within `run`.
//   - While the other engine is away every command fails at once; none is kept for later.

import { depthOf } from '../../core/calls/call-depth.ts';
import { Refusal } from '../../core/calls/refusal.ts';
import type { Clock } from '../../effects/clock.ts';
import { EngineLink, LINK_CALL_MS_DEFAULT, type LinkCall } from '../../effects/engine-link.ts';
import type { Logger } from '../../effects/logger.ts';
import type { Random } from '../../effects/random.ts';
import type { ErrorBody } from '../../protocol/frames/frames.ts';
import { asRawJson, parseRawJson, RAW_NULL, type RawJson, rawJson } from '../../protocol/json/byte-string.ts';
import {
  type GroupRef,
  type GroupWatcher,
  OVERLOADED,
  type Store,
  type StoreEvent,
  type StoreReply,
  Waiting,
} from '../thread/contract.ts';

/** What caused a change on the other engine. */
export interface RemoteCause {
  readonly depth: number;
  readonly traceparent: string | undefined;
  readonly baggage: string | undefined;
}

export interface BridgeStoreOptions {
  readonly url: string;
  readonly token: string | undefined;
  readonly purpose: 'state' | 'streams';
  readonly isDropIn: boolean;
  readonly version: string;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  /** A change on the other engine. */
  changed(events: readonly StoreEvent[], cause: RemoteCause): void;
}

export type Done = (reply: StoreReply) => void;

const PROMISE = 'changes made while the other engine is away fire no trigger here; events of streams may be missing';

export abstract class BridgeStore implements Store {
  protected readonly options: BridgeStoreOptions;
  protected readonly link: EngineLink;
  /** The function of this connection that the triggers of the other engine call. */
  protected readonly listener: string;
  /** Whether the other engine answers with bare values, as `iii` does; `undefined`: not known yet. */
  #isBare: boolean | undefined;
  readonly #waiting = new Waiting();

  constructor(options: BridgeStoreOptions) {
    const { url, token, purpose, version, clock, logger, random } = options;
    this.options = options;
    this.listener = `bridge.${random.uuid()}.${purpose}`;
    this.link = new EngineLink({
      ...{ url, token, name: `svc-bridge (${purpose})`, version, clock, logger },
      onUp: () => this.#isUp(),
      onDown: () => {
        this.#isBare = undefined;
      },
      onCall: (call) => this.#called(call),
    });
  }

  get trouble(): string | undefined {
    return this.link.trouble ?? (this.#isBare === undefined ? 'the other engine has not answered yet' : undefined);
  }

  get details(): Readonly<Record<string, string>> {
    return { address: this.link.address, weaker_promise: PROMISE };
  }

  start(): void {
    this.link.start();
  }

  stop(): void {
    this.link.close();
  }

  run(command: string, input: Uint8Array, done: Done): void {
    const { clock } = this.options;
    const { trouble } = this;
    if (trouble !== undefined || !this.#waiting.enter(input.length)) {
      const error = trouble === undefined ? OVERLOADED : this.#away(trouble);
      clock.afterTurn(() => done({ error }));
      return;
    }
    const text = asRawJson(Buffer.from(input).toString('latin1'));
    const bytes = input.length;
    const answer = (reply: StoreReply): void => {
      this.#waiting.leave(1, bytes);
      done(reply);
    };
    try {
      this.carryOut(command, text, this.#isBare === true, answer);
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      clock.afterTurn(() => answer({ error: error.toBody() }));
    }
  }

  abstract watch(ref: GroupRef, watcher: GroupWatcher): () => void;

  /** Calls `done` once, in a later turn. `isBare`: the form of the answers of the other engine. */
  protected abstract carryOut(command: string, input: RawJson, isBare: boolean, done: Done): void;

  /** Registers the triggers that this store needs on the other engine. */
  protected abstract listen(): void;

  /** The events of a change, from the payload of a trigger. */
  protected abstract eventsIn(payload: RawJson): readonly StoreEvent[];

  protected call(
    functionId: string,
    data: RawJson,
    done: (reply: { result?: RawJson; error?: ErrorBody }) => void,
  ): void {
    this.link.call({ functionId, data }, LINK_CALL_MS_DEFAULT, ({ result, error }) => {
      if (error !== undefined) done({ error: bodyOf(error) });
      else done(result === undefined ? {} : { result });
    });
  }

  /** An answer that is not there shows which form the other engine has. */
  #isUp(): void {
    const asked = rawJson({ stream_name: this.listener });
    this.call('stream::list_groups', asked, ({ result, error }) => {
      if (error?.code === 'bridge_error') return;
      this.#isBare = result === undefined ? this.options.isDropIn : Array.isArray(parseRawJson(result));
      this.link.register(
        this.listener,
        `Follows the ${this.options.purpose} of this engine`,
        rawJson({ 'svc.bridge': true }),
      );
      this.listen();
    });
  }

  #called({ data, traceparent, baggage, answer }: LinkCall): void {
    answer({ result: RAW_NULL });
    const events = data === undefined ? [] : this.eventsIn(data);
    if (events.length > 0) this.options.changed(events, { depth: depthOf(baggage), traceparent, baggage });
  }

  #away(trouble: string): ErrorBody {
    return { code: 'bridge_error', message: `The engine at ${this.link.address} cannot be used: ${trouble}` };
  }
}

export function bytesOf(text: RawJson): Buffer {
  return Buffer.from(text, 'latin1');
}

function bodyOf(error: RawJson): ErrorBody {
  const value: unknown = parseRawJson(error);
  const { code, message } = Object(value);
  return { code: String(code ?? 'invocation_failed'), message: String(message ?? JSON.stringify(value)) };
}
