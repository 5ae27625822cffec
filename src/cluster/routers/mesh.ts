// The other routers of this process: a line to each, what they offer, and what this router offers them.
//
// A router sends its own registrations on the lines that carry its calls, so a call never arrives before a registration
// that came earlier. A counter in shared memory gives all registrations of the process one order.

import type { ReservedKind } from '../../core/access/reservations.ts';
import { provisionalOrder } from '../../core/cluster/provisional-order.ts';
import { type SharedLine, SharedMemoryCarrier } from '../../effects/shared-memory/carrier.ts';
import { isRouterMessage } from '../../generated/cluster-values.ts';
import { asRawJson, parseRawJson, type RawJson, rawJson, textToByteString } from '../../protocol/json/byte-string.ts';
import type { ModuleTriggerType, RawBuiltinDefinition } from '../../router/builtin.ts';
import type { RouterContext } from '../../router/context.ts';
import { reserve } from '../../router/registrations/functions.ts';
import { keepIds } from '../../router/remote/moved-workers.ts';
import { settleCallsOf } from '../../router/remote/relayed-calls.ts';
import { RemoteEngine } from '../../router/remote/remote-engine.ts';
import { RemoteOwner } from '../../router/remote/remote-owner.ts';
import { RunPlace } from '../../router/remote/run-place.ts';
import { ServeFrames } from '../../router/remote/serve-frames.ts';
import { adoptVerdict, noteVerdict } from '../../router/triggers/triggers.ts';
import type { RoutersOfProcess } from '../identity.ts';
import { Publisher } from '../publisher.ts';
import { RegistryCopy } from '../registry-copy.ts';
import { HomeModules, ownModules } from './home-modules.ts';
import type { RouterMessage, RouterReservation, RouterTurn, RouterWorker } from './messages.ts';

export interface RouterMeshOptions {
  readonly context: RouterContext;
  /** The id of this router, and of the first one. */
  readonly ownId: string;
  readonly homeId: string;
  readonly lines: readonly SharedLine[];
  /** Counts the registrations of the process. */
  readonly order: SharedArrayBuffer;
  readonly fail: (reason: string) => void;
}

interface Peer {
  readonly engine: RemoteEngine;
  frames: ServeFrames;
  removeHome: () => void;
  /** Entries that were sent to it, and that it has entered. */
  sent: number;
  seen: number;
  /** Entries that came from it. */
  received: number;
}

export class RouterMesh {
  readonly #options: RouterMeshOptions;
  readonly #carrier: SharedMemoryCarrier;
  readonly #copy: RegistryCopy;
  readonly #peers: Peer[] = [];
  readonly #order: Int32Array;
  /** What this router offers, by key. */
  readonly #entries = new Map<string, { readonly value: string; readonly revision: number }>();
  readonly #publisher: Publisher;
  #modules: HomeModules | undefined;
  #sentModules: RawJson | undefined;
  #haveModules = (): void => {};
  readonly #modulesKnown: Promise<void>;
  #waiting: (() => void)[] = [];
  #turn = 0;
  #turns: { readonly number: number; readonly awaited: Set<Peer>; readonly thens: readonly (() => void)[] }[] = [];
  #newest: (() => void)[] | undefined;
  /** Another router has said what changes now. */
  #isTaking = false;
  /** The id of this router in the cluster. */
  #memberId: string | undefined;

  constructor(options: RouterMeshOptions) {
    const { context, ownId, lines, order, fail } = options;
    this.#options = options;
    this.#order = new Int32Array(order);
    this.#copy = new RegistryCopy(context, ownId);
    this.#modulesKnown = new Promise((resolve) => {
      this.#haveModules = resolve;
    });
    const load = () => ({ callsInFlight: context.calls.openCount, isDraining: context.isDraining });
    this.#carrier = new SharedMemoryCarrier({ lines, clock: context.clock, load, fail });
    context.engineId = ownId;
    for (const { peerId } of lines) this.#connect(peerId);
    const bucket = {
      put: async (key: string, value: string) => this.#put(key, value),
      delete: async (key: string) => this.#delete(key),
    };
    this.#publisher = new Publisher({
      ...{ engineId: ownId, bucket, context, readers: 'routers' },
      bytesMax: Number.POSITIVE_INFINITY,
    });
    context.workerListeners.add((id) => this.#workerChanged(id));
    context.reservations.onChange(({ kind, name, isReserved }) => {
      if (!this.#isTaking) for (const peer of this.#peers) this.#sendReservation(peer, kind, name, isReserved);
    });
    context.announceInheritance = ({ prefix, triggers, types, ...rest }) => {
      const ids = { triggers: [...triggers], types: [...types] };
      this.#sayAll({ kind: 'inheritance', ...rest, ...ids, ...(prefix !== undefined && { prefix }) });
    };
    context.whenOthersKnow = (then) => this.#whenOthersKnow(then);
    context.afterTurnOfOthers = (then) => this.#afterTurnOfOthers(then);
  }

  /** Resolves when the modules of the first router are known. */
  get ready(): Promise<void> {
    return this.#modulesKnown;
  }

  /** A module of this router has these types itself. */
  provides(types: readonly ModuleTriggerType[]): void {
    for (const { id } of types) this.#modules?.keepOwn(id);
  }

  /** Functions of the modules of the first router that this one may run itself. */
  runsItself(functions: readonly RawBuiltinDefinition[], mustPassOn: () => boolean): void {
    const { context } = this.#options;
    const { home, ownPlaces } = context;
    if (home === undefined) throw new Error('The first router has its functions');
    const place = new RunPlace({ context, home, functions, mustPassOn });
    for (const { id } of functions) ownPlaces.set(id, place);
  }

  /** What makes this router a member of a cluster. */
  get asMember(): RoutersOfProcess {
    const { ownId, homeId } = this.#options;
    return {
      process: homeId,
      isFurther: ownId !== homeId,
      becameMember: (id) => {
        this.#memberId = id;
        this.#sayAll({ kind: 'member', id });
      },
      ordered: (entry) => this.#publisher.note(entry),
    };
  }

  /** On the first router: its modules offer something else. */
  modulesChanged(): void {
    this.#sentModules = rawJson(ownModules(this.#options.context));
    for (const { engine } of this.#peers) engine.sendControl(this.#sentModules);
  }

  stop(): void {
    this.#publisher.stop();
    this.#copy.stop();
    this.#carrier.close();
  }

  #connect(peerId: string): void {
    const { context, homeId } = this.#options;
    const engine = new RemoteEngine(peerId, undefined, context.compact, true);
    const frames = new ServeFrames(context, engine);
    const peer: Peer = { engine, frames, removeHome: () => {}, sent: 0, seen: 0, received: 0 };
    this.#peers.push(peer);
    context.otherRouters.add(engine);
    if (peerId === homeId) {
      context.home = engine;
      this.#modules = new HomeModules(context, engine);
    }
    engine.onControl = (text) => this.#take(peer, text);
    const link = this.#carrier.connect(peerId, {
      up: () => this.#up(peer),
      down: (reason) => this.#down(peer, reason),
      frames: (bytes) => peer.frames.receive(bytes),
    });
    engine.attach(link);
    this.#copy.engineCame(engine);
  }

  #up(peer: Peer): void {
    const { context } = this.#options;
    peer.engine.sessionChanged();
    this.#say(peer, { kind: 'hello', channels: context.channels.home ?? '' });
    if (this.#memberId !== undefined) this.#say(peer, { kind: 'member', id: this.#memberId });
    for (const { kind, name } of context.reservations.all()) this.#sendReservation(peer, kind, name, true);
    for (const [key, { value, revision }] of this.#entries) this.#sendEntry(peer, key, value, revision);
    if (this.#sentModules !== undefined) peer.engine.sendControl(this.#sentModules);
    this.#copy.engineUp(peer.engine);
  }

  /** The process ends: it has no half engine. */
  #down(peer: Peer, reason: string): void {
    const { context } = this.#options;
    peer.engine.sessionChanged();
    peer.frames.channels.end();
    peer.removeHome();
    context.otherRouters.delete(peer.engine);
    this.#peers.splice(this.#peers.indexOf(peer), 1);
    settleCallsOf(context, peer.engine, reason);
    this.#copy.engineLeft(peer.engine.id);
    for (const { awaited } of this.#turns) awaited.delete(peer);
    this.#endTurns();
    this.#resume();
  }

  #take(peer: Peer, text: RawJson): void {
    const message = parseRawJson(text);
    if (!isRouterMessage(message)) return peer.engine.refuse(`a message that is none: ${text.slice(0, SHOWN_CHARS)}`);
    switch (message.kind) {
      case 'hello':
        return this.#takeHome(peer, message.channels);
      case 'entry':
        this.#copy.entry({ key: message.key, value: message.value, revision: message.revision });
        return this.#confirm(peer);
      case 'seen':
        peer.seen = message.entries;
        return this.#resume();
      case 'member':
        return peer.engine.becameMember(message.id);
      case 'turn':
        return this.#takeTurn(peer, message);
      case 'worker':
        this.#options.context.workerChanges++;
        return noteWorker(peer.engine, message);
      case 'handed':
        return peer.engine.nameWorker(message.slot, message.generation, message.worker);
      case 'reservation':
        this.#takeReservation(message);
        return this.#confirm(peer);
      case 'inheritance':
        return keepIds(this.#options.context, { prefix: undefined, ...message });
      case 'verdict':
        return this.#takeVerdict(peer, message.id, message.error);
      case 'modules':
        this.#modules?.adopt(message);
        return this.#haveModules();
    }
  }

  #takeReservation({ of, name, isReleased }: RouterReservation): void {
    const { context } = this.#options;
    this.#isTaking = true;
    if (isReleased) context.reservations.release(of, name);
    else reserve(context, of, name);
    this.#isTaking = false;
  }

  #takeHome(peer: Peer, channels: string): void {
    peer.removeHome = this.#options.context.channels.addHome(channels, {
      get isUp() {
        return peer.frames.channels.isUp;
      },
      passOn: (end, pipe) => peer.frames.channels.passOn(end, pipe),
    });
  }

  /** Once for all entries of a turn. */
  #confirm(peer: Peer): void {
    peer.received++;
    const { received } = peer;
    this.#options.context.clock.afterTurn(() => {
      if (received === peer.received) this.#say(peer, { kind: 'seen', entries: received });
    });
  }

  #takeVerdict({ engine }: Peer, id: string, text: string | undefined): void {
    const { context } = this.#options;
    const binding = context.triggers.binding(id);
    const error = text === undefined ? undefined : asRawJson(textToByteString(text));
    context.verdicts.get(id)?.(error);
    if (binding === undefined) return;
    // The router of its owner reports what it knows.
    const isKnownThere = binding.owner instanceof RemoteOwner && binding.owner.engine === engine;
    if (isKnownThere) noteVerdict(binding, error);
    else adoptVerdict(context, binding, error);
  }

  #put(key: string, value: string): number {
    const revision = this.#nextRevision();
    this.#entries.set(key, { value, revision });
    for (const peer of this.#peers) this.#sendEntry(peer, key, value, revision);
    return revision;
  }

  #delete(key: string): void {
    this.#entries.delete(key);
    const revision = this.#nextRevision();
    for (const peer of this.#peers) this.#sendEntry(peer, key, undefined, revision);
  }

  #nextRevision(): number {
    return provisionalOrder(Atomics.add(this.#order, 0, 1) + 1);
  }

  #sendEntry(peer: Peer, key: string, value: string | undefined, revision: number): void {
    if (!peer.engine.isUp) return;
    peer.sent++;
    this.#say(peer, { kind: 'entry', key, revision, ...(value !== undefined && { value }) });
  }

  #sendReservation(peer: Peer, of: ReservedKind, name: string, isReserved: boolean): void {
    if (!peer.engine.isUp) return;
    peer.sent++;
    this.#say(peer, { kind: 'reservation', of, name, ...(!isReserved && { isReleased: true }) });
  }

  #workerChanged(id: string): void {
    const session = this.#options.context.sessions.get(id);
    const isThere = session?.state === 'open';
    this.#sayAll({ kind: 'worker', id, ...(isThere && { name: session.displayName, address: session.remoteAddress }) });
  }

  #sayAll(message: RouterMessage): void {
    for (const peer of this.#peers) this.#say(peer, message);
  }

  #say({ engine }: Peer, message: RouterMessage): void {
    engine.sendControl(rawJson(message));
  }

  /** Calls it, at once or later, when all other routers know what is registered on this one now. */
  #whenOthersKnow(then: () => void): void {
    const awaited = this.#peers.filter(({ sent, seen }) => seen < sent).map((peer) => ({ peer, entries: peer.sent }));
    if (awaited.length === 0) return then();
    const look = (): void => {
      const isKnown = awaited.every(({ peer, entries }) => peer.seen >= entries || !peer.engine.isUp);
      if (isKnown) then();
      else this.#waiting.push(look);
    };
    this.#waiting.push(look);
  }

  /** Calls it when every other router has handled what had arrived there by now. */
  #afterTurnOfOthers(then: () => void): void {
    if (this.#newest !== undefined) return void this.#newest.push(then);
    this.#turn = (this.#turn + 1) % TURNS;
    const number = this.#turn;
    const thens = [then];
    this.#sayAll({ kind: 'turn', number });
    this.#turns.push({ number, awaited: new Set(this.#peers), thens });
    // One question serves all that ask in this turn.
    this.#newest = thens;
    this.#options.context.clock.afterTurn(() => {
      this.#newest = undefined;
    });
  }

  #takeTurn(peer: Peer, { number, isOver }: RouterTurn): void {
    const { clock } = this.#options.context;
    if (isOver === undefined) {
      // Sockets are read in every turn, but some of this one may have been read before the question.
      return clock.afterTurn(() => clock.afterTurn(() => this.#say(peer, { kind: 'turn', number, isOver: true })));
    }
    this.#turns.find((one) => one.number === number)?.awaited.delete(peer);
    this.#endTurns();
  }

  #endTurns(): void {
    const over = this.#turns.filter(({ awaited }) => awaited.size === 0);
    this.#turns = this.#turns.filter(({ awaited }) => awaited.size > 0);
    for (const { thens } of over) for (const then of thens) then();
  }

  #resume(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const look of waiting) look();
  }
}

function noteWorker({ workers }: RemoteEngine, { id, name, address }: RouterWorker): void {
  if (name === undefined) workers.delete(id);
  else workers.set(id, { name, address });
}

const SHOWN_CHARS = 100;
const TURNS = 2 ** 30;
