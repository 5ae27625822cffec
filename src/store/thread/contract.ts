// The interface between the modules of the engine and a store, for all stores: LMDB, memory, Redis.
//
// A command is a name and the caller's JSON as it was sent. The store's own thread reads, checks and runs it, so that
// the router never parses a stored value (PD-19). Commands of one turn travel together and share one sync (D2).

import { Buffer } from 'node:buffer';
import { Refusal } from '../../core/calls/refusal.ts';
import { ERROR_CODES, type ErrorCode } from '../../protocol/frames/errors.ts';
import type { ErrorBody } from '../../protocol/frames/frames.ts';
import type { Kv } from '../kv/kv.ts';

/** The directory of the default store, for modules that configure no other. */
export const STORE_FOLDER_DEFAULT = './data';

/** The input of a command. JSON texts are UTF-8 bytes. */
export interface StoreReply {
  /** Absent with `error`. */
  readonly result?: Uint8Array;
  readonly error?: ErrorBody;
  /** The events in commit order. They are made after the commit; the module sends them to subscribers and triggers. */
  readonly events?: readonly StoreEvent[];
  /** Damaged records that the command found and skipped (D9). */
  readonly damagedRecords?: number;
}

export interface StoreEvent {
  /**
   * The path of the change, for filters: `[scope, key]` of state, `[stream, group, item]` of streams, '' for no item.
   */
  readonly path: readonly string[];
  /** `state:updated`, `create`, `delete`, …: used by the module's filters and counters. */
  readonly kind: string;
  /** Position in the (stream, group); 0 where events have no numbers. */
  readonly seq: number;
  /** The event as JSON, written once and sent to every receiver as it is (T6). */
  readonly body: Uint8Array;
}

export interface RunOptions {
  /** With `false` a command may omit events that have no receiver, and its reply is valid until `done` returns. */
  readonly wantsEvents?: boolean;
  /** The trace that the jobs of the change belong to (`traceOf`). */
  readonly trace?: string | undefined;
  /** How many callers wait for the answer: a command may carry the work of many. The default is one. */
  readonly callers?: number;
}

/** One store, as the modules on the router's thread see it. */
export interface Store {
  /** Whether operations can succeed now; health shows the reason. */
  readonly trouble: string | undefined;
  /** The location of the data, for health: never a credential. */
  readonly details: Readonly<Record<string, string>>;
  /** `done` is called exactly once, after the change is durable (D1), in a later turn. `input` is copied at once. */
  run(command: string, input: Uint8Array, done: (reply: StoreReply) => void, options?: RunOptions): void;
  /**
   * From before the next `stream.subscribe` of that group on, reports what other engines do there. Returns a function
   * that ends it. The limit is one watcher for each group. A local store has no other engines and reports nothing.
   */
  watch(ref: GroupRef, watcher: GroupWatcher): () => void;
}

export interface GroupRef {
  readonly stream: string;
  readonly group: string;
}

/** The follower of a (stream, group). */
export interface GroupWatcher {
  /**
   * Receives every event in the order of the numbers, whichever engine caused it. Events of this engine arrive here
   * too, before their command is answered.
   */
  event(event: StoreEvent): void;
  /** The numbers known so far are no longer valid, or events are lost: the group must be read again (T4). */
  reset(): void;
}

/** A command as the store's thread runs it, on a local store. Pure except for `kv`. */
export interface StoreCommand {
  readonly name: string;
  /** Whether it may change something. A command that only reads runs in parallel with the transactions of others. */
  readonly isWrite: boolean;
  /**
   * Whether it may use the reserve when the disk is nearly full (D4): deletes and completions may; other writes may
   * not.
   */
  readonly usesReserve?: boolean;
  /** Throws a `Refusal` to answer with an error; then none of its changes remain. */
  run(kv: Kv, input: Uint8Array, context: LocalContext): StoreReply;
}

export interface CommandContext {
  readonly nowMs: number;
  /** The name of this incarnation of the store: it changes with a restore and, in memory, with every start (T4). */
  readonly epoch: string;
  /** Whether the engine answers as `iii` does (PD-1). */
  readonly isDropIn: boolean;
  /** Whether the changes of this command have a receiver. */
  readonly wantsEvents: boolean;
  /** The trace of the call that causes the change, if it may create a job: `traceparent`, a line end, `baggage`. */
  readonly trace?: string | undefined;
  readonly limits: StoreLimits;
}

/** Further facts for commands of a local store. */
export interface LocalContext extends CommandContext {
  /** The monotonic clock, whole milliseconds. */
  readonly monotonicMs: number;
  /** The name of this run of the engine: `monotonicMs` of two runs cannot be compared. */
  readonly run: string;
}

/** The settings that a module may have for its commands. */
export interface StoreLimits {
  /** The limit of one value of state, in bytes of JSON. */
  readonly stateValueBytes: number;
  /** The limit of one item of a stream, in bytes of JSON. */
  readonly streamValueBytes: number;
  /** How many events of one group are kept for returning subscribers (T4): the first limit that is reached counts. */
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

export const WAITING_BYTES_MAX = 128 * 1024 * 1024;
const WAITING_COMMANDS_MAX = 65_536;

export const OVERLOADED: ErrorBody = { code: 'OVERLOADED', message: 'Too much is waiting for the store' };

/** How much waits for a store. Over the limit callers get OVERLOADED: memory is not a queue (guarantees 1). */
export class Waiting {
  commands = 0;
  #bytes = 0;

  /** Whether there was room for one more. */
  enter(bytes: number): boolean {
    if (this.commands >= WAITING_COMMANDS_MAX || this.#bytes + bytes > WAITING_BYTES_MAX) return false;
    this.commands++;
    this.#bytes += bytes;
    return true;
  }

  leave(commands: number, bytes: number): void {
    this.commands -= commands;
    this.#bytes -= bytes;
  }
}

/** A small command of the engine itself: the answer, parsed; rejects with its refusal. */
export function runCommand(store: Store, command: string, input: object): Promise<unknown> {
  return new Promise((resolve, reject) => {
    store.run(command, Buffer.from(JSON.stringify(input)), ({ result, error }) => {
      if (error !== undefined) reject(new Refusal(codeOf(error.code), error.message));
      else resolve(result === undefined ? undefined : JSON.parse(Buffer.from(result).toString('utf8')));
    });
  });
}

export function codeOf(code: string): ErrorCode {
  const known = Object.hasOwn(ERROR_CODES, code);
  // A key of the table is one of its keys.
  return known ? (code as ErrorCode) : 'invocation_failed';
}
