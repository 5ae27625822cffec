// One identity of this engine in the cluster, from its first key to its last: the key, the inbox, the copy of the
// registry, and the engines that it knows.
//
// Invariant: whatever rests on the identity ends with it. What it knew of other engines stays until a new identity
// knows them: meanwhile their functions are out of reach, and not missing.

import type { Carrier, LinkEvents } from '../effects/carrier.ts';
import type { Bucket } from '../effects/nats/bucket.ts';
import type { ChannelHome } from '../router/channels/channels.ts';
import type { RouterContext } from '../router/context.ts';
import { withdrawDuplicate } from '../router/registrations/functions.ts';
import { endProof } from '../router/registrations/unproven.ts';
import { settleCallsOf } from '../router/remote/relayed-calls.ts';
import { RemoteEngine } from '../router/remote/remote-engine.ts';
import { ServeFrames } from '../router/remote/serve-frames.ts';
import { MarkerSweep } from './marker-sweep.ts';
import { type EngineFacts, Membership } from './membership.ts';
import { functionOf, Publisher } from './publisher.ts';
import { RegistryCopy } from './registry-copy.ts';
import type { SharedReservations } from './shared-reservations.ts';

/** Each router of a process is a member, and to people they are one engine. */
export interface RoutersOfProcess {
  /** An id of the process. */
  readonly process: string;
  /** This is not the first router. */
  readonly isFurther: boolean;
  /** This router has that id in the cluster from now on. */
  becameMember(memberId: string): void;
  /** A registration of this router has its order among all of the cluster. */
  ordered(entry: string): void;
}

export interface IdentityOptions {
  readonly context: RouterContext;
  readonly engineId: string;
  readonly engines: Bucket;
  readonly registrations: Bucket;
  /** They lie in the same bucket, and outlive the identity. */
  readonly reservations: SharedReservations;
  readonly entryBytesMax: number;
  readonly carrier: Carrier & { close(): void };
  readonly facts: () => EngineFacts;
  readonly routers: RoutersOfProcess | undefined;
  readonly lost: (reason: string) => void;
}

export interface KnownEngine {
  readonly engine: RemoteEngine;
  facts: EngineFacts;
  /** Its channels are out of reach from now on. */
  readonly removeHome: () => void;
}

export class Identity {
  readonly engineId: string;
  /** The other engines, by id. */
  readonly known = new Map<string, KnownEngine>();
  readonly #options: IdentityOptions;
  readonly #membership: Membership;
  readonly #copy: RegistryCopy;
  readonly #sweep: MarkerSweep;
  #publisher: Publisher | undefined;
  /** Functions whose registration is written, and counts when all before it are known. */
  #unproven: { readonly id: string; readonly revision: number }[] = [];
  #seenRevision = 0;
  #stopWatch = (): void => {};

  constructor(options: IdentityOptions) {
    const { context, engineId, engines, registrations, facts, lost } = options;
    const { clock, logger } = context;
    this.#options = options;
    this.engineId = engineId;
    this.#copy = new RegistryCopy(context, engineId);
    this.#sweep = new MarkerSweep(registrations, clock);
    this.#membership = new Membership({
      ...{ engineId, bucket: engines, entryBuckets: [registrations], facts, clock, logger },
      events: {
        came: (id, announced) => this.#came(id, announced),
        renewed: (id, facts) => {
          const known = this.known.get(id);
          if (known !== undefined) known.facts = facts;
        },
        left: (id) => this.#left(id),
        lost,
      },
    });
  }

  /** Resolves when all engines and functions that are there are known. */
  async start(): Promise<void> {
    const { context, engineId, registrations, reservations, entryBytesMax, routers } = this.#options;
    // A watch reports that it is complete with the last value that is there.
    await registrations.put(`${engineId}.e`, '{}');
    await new Promise<void>((resolve) => {
      const copy = this.#copy;
      const sweep = this.#sweep;
      this.#stopWatch = registrations.watch({
        begin: () => copy.begin(),
        entry: (entry) => {
          sweep.saw(entry);
          if (!reservations.entry(entry)) copy.entry(entry);
          this.#seenRevision = Math.max(this.#seenRevision, entry.revision);
          this.#prove();
        },
        complete: () => {
          copy.complete();
          resolve();
        },
      });
    });
    await this.#membership.start();
    this.#publisher = new Publisher({
      ...{ engineId, bucket: registrations, context, bytesMax: entryBytesMax, readers: 'engines' },
      ordered: (entry, revision) => {
        routers?.ordered(entry);
        const id = functionOf(entry);
        if (id !== undefined) this.#unproven.push({ id, revision });
        this.#prove();
      },
    });
  }

  #prove(): void {
    if (this.#unproven.length === 0) return;
    const { context } = this.#options;
    const proven = this.#unproven.filter(({ revision }) => revision <= this.#seenRevision);
    this.#unproven = this.#unproven.filter(({ revision }) => revision > this.#seenRevision);
    for (const { id } of proven) {
      withdrawDuplicate(context, id);
      endProof(context, id);
    }
  }

  get trouble(): string | undefined {
    return this.#membership.trouble;
  }

  /** NATS was lost or is back. */
  interrupted(): void {
    this.#membership.interrupted();
    this.#membership.renewNow();
  }

  /** Other engines hand it no more than they must. */
  announceDraining(): void {
    this.#options.carrier.announceDraining();
  }

  /** What the engine says about itself has changed. */
  factsChanged(): void {
    this.#membership.renewNow();
  }

  /** Sends and takes nothing any more. */
  stop(): void {
    this.#publisher?.stop();
    this.#membership.stop();
    this.#sweep.stop();
    this.#stopWatch();
    this.#options.carrier.close();
  }

  /** The functions of other engines that it knew are gone. */
  forget(): void {
    this.#copy.stop();
    for (const { engine, removeHome } of this.known.values()) {
      removeHome();
      this.#options.context.remoteEngines.delete(engine);
    }
    this.known.clear();
  }

  /** The goodbye; after `stop`. */
  leave(): Promise<void> {
    return this.#membership.leave();
  }

  #came(id: string, facts: EngineFacts): void {
    const { context, carrier, routers } = this.#options;
    // Routers of this process have lines to each other.
    if (facts.process !== undefined && facts.process === routers?.process) return;
    const engine = new RemoteEngine(id, facts.zone, context.compact);
    engine.isFurther = facts.is_further === true;
    const { events, home } = this.#linkEvents(engine);
    const removeHome = facts.channels === undefined ? () => {} : context.channels.addHome(facts.channels, home);
    this.known.set(id, { engine, facts, removeHome });
    context.remoteEngines.add(engine);
    this.#nameProcess(facts.process);
    this.#report('joined', engine, facts);
    engine.attach(carrier.connect(id, events));
    this.#copy.engineCame(engine);
  }

  #left(id: string): void {
    const known = this.known.get(id);
    this.#copy.engineLeft(id);
    if (known === undefined) return;
    this.known.delete(id);
    const { engine, facts } = known;
    this.#nameProcess(facts.process);
    this.#report('left', engine, facts);
    known.removeHome();
    this.#options.context.remoteEngines.delete(engine);
    this.#options.carrier.disconnect(id);
  }

  /** Logged once for each pair of processes. */
  #report(what: 'joined' | 'left', engine: RemoteEngine, { address }: EngineFacts): void {
    const { context, routers } = this.#options;
    if (engine.isFurther || routers?.isFurther === true) return;
    context.logger.info(`An engine has ${what} the cluster`, { engine: engine.id, ...(address !== '' && { address }) });
  }

  /** The id of a process is that of its first router. */
  #nameProcess(process: string | undefined): void {
    if (process === undefined) return;
    const routers = [...this.known.values()].filter(({ facts }) => facts.process === process);
    const first = routers.find(({ engine }) => !engine.isFurther)?.engine;
    for (const { engine } of routers) engine.first = first;
  }

  /** Queues look again which jobs they can run. */
  #reachChanged(): void {
    for (const listener of this.#options.context.functionListeners) listener();
  }

  #linkEvents(engine: RemoteEngine): { events: LinkEvents; home: ChannelHome } {
    const { context } = this.#options;
    let frames = new ServeFrames(context, engine);
    const events: LinkEvents = {
      up: () => {
        engine.sessionChanged();
        frames = new ServeFrames(context, engine);
        this.#copy.engineUp(engine);
        this.#reachChanged();
      },
      down: (reason) => {
        engine.sessionChanged();
        frames.channels.end();
        settleCallsOf(context, engine, reason);
        this.#reachChanged();
      },
      frames: (bytes) => frames.receive(bytes),
    };
    const home: ChannelHome = {
      get isUp() {
        return frames.channels.isUp;
      },
      passOn: (end, pipe) => frames.channels.passOn(end, pipe),
    };
    return { events, home };
  }
}
