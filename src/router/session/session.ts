// One worker connection as the router sees it.
//
// States and transitions:
//   open      frames are handled, calls are handed over; ends by a close of the client, by a limit, by silence, by
//             reattachment of its successor, or by the engine's drain
//   closed    withdrawn (see `router/session/withdraw.ts`); nothing is read from it or sent to it any more
// Time limits of `open`: 25 s without any inbound frame (W1).
// Invariants:
//   - `generation` is never reused, so nothing a dead session does later can touch its successor (W3).
//   - A session leaves `open` once, and `withdraw` runs exactly then.

import type { Access } from '../../core/access/access.ts';
import type { Executor } from '../../core/calls/select-worker.ts';
import type { WorkerAnnouncement, WorkerFrame } from '../../protocol/frames/frames.ts';
import type { RawJson } from '../../protocol/json/byte-string.ts';
import type { SendQueue } from '../../transport/send-queue.ts';
import type { UrlFunction } from '../calls/url-invocation.ts';
import type { Guard } from '../restricted/guard.ts';
import type { ControlFrame, Wire } from './wire.ts';

export interface SessionLimits {
  readonly inFlightPerWorker: number;
  readonly inFlightPerCaller: number;
  readonly outboundBufferBytes: number;
  readonly outboundCloseBytes: number;
  readonly functionsPerWorker: number;
  readonly triggersPerWorker: number;
}

export interface SessionOptions {
  readonly generation: number;
  readonly workerId: string;
  readonly reattachToken: string;
  /**
   * The client asked for a subprotocol of the engine: it sends its deadlines and understands frames beyond the common
   * ones.
   */
  readonly isOwnSdk: boolean;
  readonly remoteAddress: string;
  readonly connectedAtMs: number;
  readonly limits: SessionLimits;
  readonly sendQueue: SendQueue;
  readonly wire: Wire;
  readonly link: SessionLink;
  readonly guard?: Guard | undefined;
}

/** What a session may do to its connection besides sending frames. */
export interface SessionLink {
  ping(): void;
  disconnect(end: SessionEnd): void;
}

/** How a connection ends: with a close frame, at once, or because the client left. */
export type SessionEnd = { readonly code: number; readonly reason: string } | 'terminate' | 'peer';

/** What all connections together have not read yet, and the most that one of them has not. */
export function unreadBytes(sessions: Iterable<Session>): { trusted: number; restricted: number; most: number } {
  const unread = { trusted: 0, restricted: 0, most: 0 };
  for (const { access, sendQueue } of sessions) {
    const { bytes } = sendQueue;
    unread[access === undefined ? 'trusted' : 'restricted'] += bytes;
    if (bytes > unread.most) unread.most = bytes;
  }
  return unread;
}

export class Session implements Executor {
  readonly generation: number;
  readonly workerId: string;
  readonly reattachToken: string;
  readonly isOwnSdk: boolean;
  readonly remoteAddress: string;
  readonly connectedAtMs: number;
  readonly limits: SessionLimits;
  readonly sendQueue: SendQueue;
  readonly wire: Wire;
  readonly link: SessionLink;
  /** `undefined`: it is fully trusted. */
  readonly guard: Guard | undefined;
  /** What it may reach; `undefined`: everything. */
  readonly access: Access | undefined;

  state: 'open' | 'closed' = 'open';
  /** Monotonic time of the last frame of any kind that came in. */
  lastHeardMs = 0;
  /** What the worker reported about itself; `undefined` until then, and it may never report. */
  profile: WorkerAnnouncement | undefined = undefined;
  /** Registrations that wait for another engine, at which the worker was connected before. */
  heldRegistrations: WorkerFrame<RawJson>[] | undefined = undefined;
  /** It is about to end: what it withdraws now returns when the worker has restarted. */
  isLeaving = false;
  /** Reported to the collector as a worker: its end is reported too. */
  isCountedWorker = false;
  inFlight = 0;
  /** Of its calls, those that a log trigger caused. */
  quietInFlight = 0;
  /** Of its calls, on a restricted connection: those that the engine and trusted connections wait for. */
  owedInFlight = 0;
  /** Of its calls, those that restricted connections cause: on a trusted connection half of the places. */
  restrictedInFlight = 0;
  /** The limit, or less where the worker reported a lower one. */
  inFlightMax: number;
  /** Calls this connection waits for. */
  callsAwaited = 0;
  readonly functions = new Set<string>();
  /** Its functions that are a URL: the engine calls them itself. */
  readonly urlFunctions = new Map<string, UrlFunction>();
  readonly triggers = new Set<string>();
  readonly triggerTypes = new Set<string>();

  constructor(options: SessionOptions) {
    this.generation = options.generation;
    this.workerId = options.workerId;
    this.reattachToken = options.reattachToken;
    this.isOwnSdk = options.isOwnSdk;
    this.remoteAddress = options.remoteAddress;
    this.connectedAtMs = options.connectedAtMs;
    this.limits = options.limits;
    this.inFlightMax = options.limits.inFlightPerWorker;
    this.sendQueue = options.sendQueue;
    this.wire = options.wire;
    this.link = options.link;
    this.guard = options.guard;
    this.access = options.guard?.rules.access;
  }

  get isAccepting(): boolean {
    return this.state === 'open' && this.sendQueue.bytes < this.limits.outboundBufferBytes;
  }

  /** Whether it takes one more call of a restricted connection. The other places are for trusted callers. */
  get takesRestrictedCalls(): boolean {
    return this.access !== undefined || 2 * this.restrictedInFlight < this.inFlightMax;
  }

  /** Whether the connection is listed as a worker: one that only calls is not. */
  get isWorker(): boolean {
    return (
      this.profile !== undefined || this.functions.size > 0 || this.triggers.size > 0 || this.triggerTypes.size > 0
    );
  }

  /** For log lines and lists. */
  get displayName(): string {
    return this.profile?.name ?? this.workerId;
  }

  /** The worker identifies itself, and reports how many calls it takes. */
  describe(profile: WorkerAnnouncement): void {
    this.profile = profile;
    const { inFlightPerWorker } = this.limits;
    this.inFlightMax = Math.min(inFlightPerWorker, profile.max_in_flight ?? inFlightPerWorker);
  }

  send(frame: ControlFrame): void {
    this.wire.sendControl(this.guard === undefined ? frame : this.guard.names.translate(frame));
  }
}
