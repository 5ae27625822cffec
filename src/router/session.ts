// One worker connection as the router sees it.
//
// States, and what moves a session on:
//   open      frames are handled, calls are handed over; ends by the peer closing, by a limit, by silence, by
//             reattachment of its successor, or by the engine's drain
//   closed    withdrawn (see `router/withdraw.ts`); nothing is read from it or sent to it any more
// Time limits of `open`: 25 s without any inbound frame (W1).
// Invariants:
//   S1  `generation` is never reused, so nothing a dead session does later can touch its successor (W3).
//   S2  A session leaves `open` once, and `withdraw` runs exactly then.

import type { Access } from '../core/access.ts';
import type { Executor } from '../core/executor.ts';
import type { WorkerAnnouncement } from '../protocol/frames.ts';
import type { Outbox } from '../transport/outbox.ts';
import type { Guard } from './guard.ts';
import type { UrlFunction } from './url-invocation.ts';
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
  /** Our own SDK asked for a subprotocol of ours: it sends its deadlines and understands frames of ours. */
  readonly isOwnSdk: boolean;
  readonly remoteAddress: string;
  readonly connectedAtMs: number;
  readonly limits: SessionLimits;
  readonly outbox: Outbox;
  readonly wire: Wire;
  readonly link: SessionLink;
  readonly guard?: Guard | undefined;
}

/** What a session may do to its connection besides sending frames. */
export interface SessionLink {
  ping(): void;
  disconnect(end: SessionEnd): void;
}

/** How a connection is ended: with a goodbye, at once, or it was the peer that left. */
export type SessionEnd = { readonly code: number; readonly reason: string } | 'terminate' | 'peer';

export class Session implements Executor {
  readonly generation: number;
  readonly workerId: string;
  readonly reattachToken: string;
  readonly isOwnSdk: boolean;
  readonly remoteAddress: string;
  readonly connectedAtMs: number;
  readonly limits: SessionLimits;
  readonly outbox: Outbox;
  readonly wire: Wire;
  readonly link: SessionLink;
  /** `undefined`: it is trusted with everything. */
  readonly guard: Guard | undefined;
  /** What it may reach; `undefined`: everything. */
  readonly access: Access | undefined;

  state: 'open' | 'closed' = 'open';
  /** Monotonic time of the last frame of any kind that came in. */
  lastHeardMs = 0;
  /** What the worker said of itself; `undefined` until it has, which is fine for ever. */
  profile: WorkerAnnouncement | undefined = undefined;
  /** Told to the observer as a worker: its end is told too. */
  isCountedWorker = false;
  inFlight = 0;
  /** Of these, what a log trigger caused. */
  quietInFlight = 0;
  /** What the limits allow, or less where the worker said so. */
  inFlightMax: number;
  /** Calls this connection is waiting for. */
  callsAwaited = 0;
  readonly functions = new Set<string>();
  /** Those of its functions that are a URL: the engine calls them itself. */
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
    this.outbox = options.outbox;
    this.wire = options.wire;
    this.link = options.link;
    this.guard = options.guard;
    this.access = options.guard?.rules.access;
  }

  get isAccepting(): boolean {
    return this.state === 'open' && this.outbox.bytes < this.limits.outboundBufferBytes;
  }

  /** Whether anything of it is worth showing: a connection that only calls is nobody's worker. */
  get isWorker(): boolean {
    return (
      this.profile !== undefined || this.functions.size > 0 || this.triggers.size > 0 || this.triggerTypes.size > 0
    );
  }

  /** For log lines and lists. */
  get displayName(): string {
    return this.profile?.name ?? this.workerId;
  }

  /** The worker says who it is, and how much it takes on. */
  describe(profile: WorkerAnnouncement): void {
    this.profile = profile;
    const { inFlightPerWorker } = this.limits;
    this.inFlightMax = Math.min(inFlightPerWorker, profile.max_in_flight ?? inFlightPerWorker);
  }

  send(frame: ControlFrame): void {
    this.wire.sendControl(this.guard === undefined ? frame : this.guard.names.translate(frame));
  }
}
