// What a module of the engine asks of a store, whichever keeps the data: LMDB, memory, Redis.
//
// A command is a name and the caller's JSON as it came; the store's own thread reads, checks and runs it, so that the
// router never parses a stored value (decisions 19). Commands of one turn travel together and share one sync (D2).

import type { ErrorBody } from '../protocol/frames.ts';
import type { Kv } from './kv.ts';

/** Directory of the default store: what modules use that name no other. */
export const STORE_FOLDER_DEFAULT = './data';

/** What a command brought. JSON texts as UTF-8 bytes. */
export interface StoreReply {
  /** Absent with `error`. */
  readonly result?: Uint8Array;
  readonly error?: ErrorBody;
  /** What happened, in commit order: made after the commit, told to subscribers and triggers by the module. */
  readonly events?: readonly StoreEvent[];
  /** Records that the command found damaged and did without (D9). */
  readonly damagedRecords?: number;
}

export interface StoreEvent {
  /** Where it happened, for filters: `[scope, key]` of state, `[stream, group, item]` of streams, '' for no item. */
  readonly place: readonly string[];
  /** `state:updated`, `create`, `delete`, …: what the module's filters and counters go by. */
  readonly kind: string;
  /** Position in the (stream, group); 0 where nothing is numbered. */
  readonly seq: number;
  /** The event as JSON, written once and sent to everybody as it is (T6). */
  readonly body: Uint8Array;
}

export interface RunOptions {
  /** With `false` a command may leave out events that nobody hears, and its reply is valid until `done` returns. */
  readonly wantsEvents?: boolean;
  /** What jobs of the change belong to (`traceOf`). */
  readonly trace?: string | undefined;
  /** How many wait for the answer: a command may carry the work of many callers. One, unless it is said. */
  readonly callers?: number;
}

/** One store, as the modules on the router's thread see it. */
export interface Store {
  /** Whether operations can succeed now; health shows the reason. */
  readonly trouble: string | undefined;
  /** Where the data is, for health: never a credential. */
  readonly facts: Readonly<Record<string, string>>;
  /** `done` is called exactly once, after the change is durable (D1), in a later turn. `input` is copied at once. */
  run(command: string, input: Uint8Array, done: (reply: StoreReply) => void, options?: RunOptions): void;
  /**
   * From before the next `stream.subscribe` of that group on, tells what other engines do there. Returns how to end it.
   * One watcher a group. A store of this machine has no other engines, and tells nothing.
   */
  watch(place: WatchedPlace, watcher: GroupWatcher): () => void;
}

export interface WatchedPlace {
  readonly stream: string;
  readonly group: string;
}

/** Whoever follows a (stream, group). */
export interface GroupWatcher {
  /**
   * Every event, in the order of the numbers, whoever caused it: what this engine does comes here as well, before its
   * command is answered.
   */
  event(event: StoreEvent): void;
  /** Numbers known until now mean nothing any more, or events are lost: what is there has to be read anew (T4). */
  reset(): void;
}

/** A command as the store's thread runs it, on a store of this machine. Pure but for `kv`. */
export interface StoreCommand {
  readonly name: string;
  /** Whether it may change something. A command that only reads runs beside the transaction of others. */
  readonly isWrite: boolean;
  /** Goes on from the reserve when the disk is nearly full (D4): deletes and completions. Others that write do not. */
  readonly usesReserve?: boolean;
  /** Throws a `Refusal` to answer with an error; then nothing of what it put or removed remains. */
  run(kv: Kv, input: Uint8Array, world: LocalWorld): StoreReply;
}

export interface CommandWorld {
  readonly nowMs: number;
  /** Names this incarnation of the store: another one after a restore, in memory after every start (T4). */
  readonly epoch: string;
  /** Whether the engine answers as the peer does (decisions 1). */
  readonly isDropIn: boolean;
  /** Whether anybody listens to what this command changes. */
  readonly wantsEvents: boolean;
  /** Of the call that causes the change, where a job may come of it: `traceparent`, a line end, `baggage`. */
  readonly trace?: string | undefined;
  readonly limits: StoreLimits;
}

/** What commands on a store of this machine know besides. */
export interface LocalWorld extends CommandWorld {
  /** Of the clock that nobody sets, whole milliseconds. */
  readonly monotonicMs: number;
  /** Names the run of the engine: `monotonicMs` of two runs do not compare. */
  readonly run: string;
}

/** What a module may configure of its commands. */
export interface StoreLimits {
  /** Of one value of state, bytes of JSON. */
  readonly stateValueBytes: number;
  /** Of one item of a stream, bytes of JSON. */
  readonly streamValueBytes: number;
  /** What is kept of the events of one group for those who come back (T4): the first limit that is met counts. */
  readonly streamHistoryEvents: number;
  readonly streamHistoryMs: number;
  readonly streamHistoryBytes: number;
}

export const STORE_LIMITS: StoreLimits = {
  stateValueBytes: 4 * 1024 * 1024,
  streamValueBytes: 4 * 1024 * 1024,
  streamHistoryEvents: 1_000,
  streamHistoryMs: 5 * 60 * 1_000,
  streamHistoryBytes: 1024 * 1024,
};
