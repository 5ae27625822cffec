// The stream commands on a store in memory, with a clock that the test moves.

import { MemoryStore } from '../../../src/store/kv/kv-memory.ts';
import { COMMANDS } from '../../../src/store/thread/commands.ts';
import {
  STORE_LIMITS,
  type StoreEvent,
  type StoreLimits,
  type StoreReply,
} from '../../../src/store/thread/contract.ts';

export interface ReadMessage {
  readonly id: string | null;
  readonly seq: number;
  readonly epoch: string;
  readonly conflated?: number;
  readonly event: {
    readonly type: string;
    readonly data?: unknown;
    readonly ids?: readonly string[];
    readonly recovered?: boolean;
  };
}

export class StreamStore {
  nowMs = 1_000_000;
  epoch = 'e1';
  isDropIn = false;
  limits: StoreLimits = STORE_LIMITS;
  readonly #store = new MemoryStore();

  /** Throws the refusal of a command. `input` may be text, for tests that need exact bytes. */
  run(command: string, input: object | string = {}): StoreReply {
    const found = COMMANDS.find(({ name }) => name === command);
    if (found === undefined) throw new Error(`There is no command ${command}`);
    const bytes = Buffer.from(typeof input === 'string' ? input : JSON.stringify(input));
    const world = {
      ...{ nowMs: this.nowMs, monotonicMs: this.nowMs, run: '1', epoch: this.epoch, isDropIn: this.isDropIn },
      ...{ limits: this.limits, wantsEvents: true },
    };
    return this.#store.write((kv) => found.run(kv, bytes, world));
  }

  /** The result as a client parses it. */
  ask(command: string, input: object | string = {}): unknown {
    const { result } = this.run(command, input);
    return result === undefined ? undefined : JSON.parse(Buffer.from(result).toString());
  }

  /** What a subscriber is sent first. */
  subscribe(input: object): { readonly messages: readonly ReadMessage[]; readonly seq: number } {
    const { events = [], result = NOTHING } = this.run('stream.subscribe', input);
    return { messages: events.map(messageOf), seq: JSON.parse(Buffer.from(result).toString()).seq };
  }

  /** How many records there are, of any kind. */
  get recordCount(): number {
    return this.#store.read((kv) => [...kv.range(Buffer.of(0), Buffer.of(255))].length);
  }
}

export function messageOf({ body }: StoreEvent): ReadMessage {
  return JSON.parse(Buffer.from(body).toString());
}

const NOTHING = Buffer.from('{}');
