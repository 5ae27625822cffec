// Calls that wait in the engine because every worker of their function is at its limit of running calls (L6).
//
// Neighbours: `router/calls/waiting.ts` adds calls, hands them over and ends them. Invariants:
//   - A waiting call is in the line of its function, in the queue of deadlines, and in the count of its owner.
//   - Calls of handlers leave before others: their callers hold places already.
//   - One owner, a connection or a kind of work of the engine, has half of the places and bytes.

import { NOT_SHARED, SharedBytes, type SharedCount } from '../limits/connection-counts.ts';
import { type Due, DueQueue } from './due-queue.ts';
import { FairLine } from './fair-line.ts';

export interface WaitingCall<O, R> extends Due {
  readonly functionId: string;
  readonly owner: O;
  /** Made by a handler, whose worker has one place less while it waits. */
  readonly isOfHandler: boolean;
  readonly request: R;
  readonly bytes: number;
  readonly sinceMs: number;
}

export interface WaitingLimits {
  readonly callsMax: number;
  readonly bytesMax: number;
}

/** Calls that wait at all routers of the process together. */
export interface SharedWaiting {
  readonly calls: SharedCount;
  readonly bytes: SharedBytes;
}

/** The calls of one function. */
interface Lines<O, R> {
  readonly ofHandlers: FairLine<O, WaitingCall<O, R>>;
  readonly others: FairLine<O, WaitingCall<O, R>>;
}

interface Share {
  calls: number;
  bytes: number;
}

export class WaitingCalls<O, R> {
  readonly #limits: WaitingLimits;
  readonly #shared: SharedWaiting;
  readonly #lines = new Map<string, Lines<O, R>>();
  readonly #deadlines = new DueQueue<WaitingCall<O, R>>();
  readonly #shares = new Map<O, Share>();
  readonly #ofHandlers = new Set<WaitingCall<O, R>>();
  #bytes = 0;

  /** `shared`: those of all routers. */
  constructor(limits: WaitingLimits, shared: SharedWaiting = { calls: NOT_SHARED, bytes: new SharedBytes() }) {
    this.#limits = limits;
    this.#shared = shared;
  }

  get size(): number {
    return this.#deadlines.size;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** Those that handlers made. */
  get ofHandlers(): ReadonlySet<WaitingCall<O, R>> {
    return this.#ofHandlers;
  }

  hasLine(functionId: string): boolean {
    return this.#lines.has(functionId);
  }

  /** The functions with calls that wait, the one whose turn is next first. */
  functionIds(): string[] {
    return [...this.#lines.keys()];
  }

  /** The setting whose limit leaves no room; `undefined`: the call may wait. */
  fullLimit(owner: O, bytes: number): 'waiting_calls' | 'waiting_bytes' | undefined {
    const { callsMax, bytesMax } = this.#limits;
    const share = this.#shares.get(owner) ?? { calls: 0, bytes: 0 };
    const { calls: allCalls, bytes: allBytes } = this.#shared;
    if (this.size + allCalls.elsewhere >= callsMax || 2 * share.calls >= callsMax) return 'waiting_calls';
    const isFull = this.#bytes + allBytes.elsewhere + bytes > bytesMax || 2 * (share.bytes + bytes) > bytesMax;
    return isFull ? 'waiting_bytes' : undefined;
  }

  add(call: Omit<WaitingCall<O, R>, 'heapIndex'>): void {
    const waiting: WaitingCall<O, R> = { ...call, heapIndex: -1 };
    const { functionId, owner, isOfHandler, bytes } = waiting;
    const lines = this.#lines.get(functionId) ?? { ofHandlers: new FairLine(), others: new FairLine() };
    this.#lines.set(functionId, lines);
    (isOfHandler ? lines.ofHandlers : lines.others).add(owner, waiting);
    if (isOfHandler) this.#ofHandlers.add(waiting);
    this.#deadlines.add(waiting, waiting.dueMs);
    const share = this.#shares.get(owner) ?? { calls: 0, bytes: 0 };
    this.#shares.set(owner, share);
    share.calls++;
    share.bytes += bytes;
    this.#bytes += bytes;
    this.#note();
  }

  /** Removes the next call of the function; the function goes to the end. */
  take(functionId: string): WaitingCall<O, R> | undefined {
    const lines = this.#lines.get(functionId);
    const call = lines?.ofHandlers.take() ?? lines?.others.take();
    if (lines === undefined || call === undefined) return undefined;
    this.#lines.delete(functionId);
    this.#lines.set(functionId, lines);
    this.#forget(call, lines);
    return call;
  }

  remove(call: WaitingCall<O, R>): void {
    const lines = this.#lines.get(call.functionId);
    if (lines === undefined || call.heapIndex < 0) return;
    (call.isOfHandler ? lines.ofHandlers : lines.others).remove(call.owner, call);
    this.#forget(call, lines);
  }

  /** Removes and returns the calls whose deadline has passed. */
  takeExpired(nowMs: number): WaitingCall<O, R>[] {
    const expired: WaitingCall<O, R>[] = [];
    for (let { first } = this.#deadlines; first !== undefined && first.dueMs <= nowMs; { first } = this.#deadlines) {
      this.remove(first);
      expired.push(first);
    }
    return expired;
  }

  /** Removes and returns those that meet the condition. A walk over all of them: for rare events. */
  takeWhere(isMeant: (call: WaitingCall<O, R>) => boolean): WaitingCall<O, R>[] {
    const taken = this.#deadlines.items().filter(isMeant);
    for (const call of taken) this.remove(call);
    return taken;
  }

  #forget(call: WaitingCall<O, R>, lines: Lines<O, R>): void {
    const { functionId, owner, bytes } = call;
    if (lines.ofHandlers.isEmpty && lines.others.isEmpty) this.#lines.delete(functionId);
    this.#deadlines.remove(call);
    this.#ofHandlers.delete(call);
    this.#bytes -= bytes;
    this.#note();
    const share = this.#shares.get(owner);
    if (share === undefined) return;
    share.calls--;
    share.bytes -= bytes;
    if (share.calls === 0) this.#shares.delete(owner);
  }

  #note(): void {
    this.#shared.calls.note(this.size);
    this.#shared.bytes.note(this.#bytes);
  }
}
