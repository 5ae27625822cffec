// What a module of the engine asks of a store, whichever keeps the data: LMDB, memory, Redis.
//
// A command is a name and the caller's JSON as it came; the store's own thread reads, checks and runs it, so that the
// router never parses a stored value (decisions 19). Commands of one turn travel together and share one sync (D2).

import type { ErrorBody } from '../protocol/frames.ts';

/** What a command brought. JSON texts as UTF-8 bytes. */
export interface StoreReply {
  /** Absent with `error`. */
  readonly result?: Uint8Array;
  readonly error?: ErrorBody;
  /** What happened, in commit order: made after the commit, told to subscribers and triggers by the module. */
  readonly events?: readonly StoreEvent[];
}

export interface StoreEvent {
  /** Where it happened, for filters: `[scope, key]` of state, `[stream, group, item]` of streams; an absent item is ''. */
  readonly place: readonly string[];
  /** `state:updated`, `create`, `delete`, …: what the module's filters and counters go by. */
  readonly kind: string;
  /** Position in the (stream, group); 0 where nothing is numbered. */
  readonly seq: number;
  /** The event as JSON, written once and sent to everybody as it is (T6). */
  readonly body: Uint8Array;
}

/** One store, as the modules on the router's thread see it. */
export interface Store {
  /** Whether operations can succeed now; health shows the reason. */
  readonly trouble: string | undefined;
  /** `done` is called exactly once, after the change is durable (D1), in a later turn. */
  run(command: string, input: Uint8Array, done: (reply: StoreReply) => void): void;
  /** Events that no command of this engine caused: changes made by other engines on a shared store. */
  onEvent(listener: (event: StoreEvent) => void): void;
}

/** A command as the store's thread runs it, on a store of this machine. Pure but for `kv`. */
export interface StoreCommand {
  readonly name: string;
  /** Whether it may change something. A command that only reads runs beside the transaction of others. */
  readonly isWrite: boolean;
  /** Throws a `Refusal` to answer with an error; then nothing of what it put or removed remains. */
  run(kv: import('./kv.ts').Kv, input: Uint8Array, world: CommandWorld): StoreReply;
}

export interface CommandWorld {
  readonly nowMs: number;
  /** Names this incarnation of the store; another one after a restore, or for an in-memory store after a restart (T4). */
  readonly epoch: string;
  /** Whether the engine answers as the peer does (decisions 1). */
  readonly isDropIn: boolean;
}
