// Several engines that act as one, over NATS. Off unless the configuration names `cluster`.
//
// `identity.ts` is this engine's membership from its first key to its last; this file keeps one at all times while NATS
// can be reached.

import { SILENCE_MS_MAX } from '../core/cluster/live-engines.ts';
import { differencesOf, type SharedConfiguration } from '../core/cluster/shared-configuration.ts';
import { type ClusterEngine, type ClusterStatus, sumOfWorkers } from '../core/cluster/status.ts';
import type { Bucket } from '../effects/nats/bucket.ts';
import { NatsCarrier } from '../effects/nats/carrier.ts';
import { NatsConnection, type NatsOptions } from '../effects/nats/connection.ts';
import { StartFailure } from '../effects/start-failure.ts';
import { loadOf, type RouterContext, type WorkerEntry } from '../router/context.ts';
import { endProofOfGone } from '../router/registrations/unproven.ts';
import { Identity, type RoutersOfProcess } from './identity.ts';
import { KEY_KINDS, type KeyKind, SharedKeys } from './shared-keys.ts';
import { SharedReservations } from './shared-reservations.ts';
import { SharedTriggers } from './shared-triggers.ts';

export interface ClusterOptions {
  readonly context: RouterContext;
  readonly nats: Omit<NatsOptions, 'inboxPrefix' | 'name' | 'clock' | 'logger' | 'openMsMax'>;
  /** Of all subjects and buckets. */
  readonly prefix: string;
  readonly zone: string | undefined;
  readonly version: string;
  /** Where the process has several routers. */
  readonly routers?: RoutersOfProcess | undefined;
  /** What this engine has to have in common with the others, as it is configured now; the first router says so. */
  readonly shared?: (() => SharedConfiguration) | undefined;
}

const ENTRY_BYTES_MAX = 64 * 1024;
const RESTART_MS = 500;
const MEMBER_TEXT = 'The engine is a member of the cluster';
/** No engine has such an id. */
const MARK_KEY = 'cluster.marks';

function entryBytesMax({ messageBytesMax }: NatsConnection): number {
  return Math.min(ENTRY_BYTES_MAX, messageBytesMax / 2);
}

interface Parts {
  readonly nats: NatsConnection;
  readonly engines: Bucket;
  readonly registrations: Bucket;
  readonly reservations: SharedReservations;
}

export class Cluster {
  readonly #options: ClusterOptions;
  readonly #parts: Parts;
  readonly #stopListening: () => void;
  #identity: Identity | undefined;
  /** The identity before, until the next one knows the other engines. */
  #former: Identity | undefined;
  #address = '';
  #triggers: SharedTriggers | undefined;
  #isStopped = false;

  private constructor(options: ClusterOptions, parts: Parts) {
    this.#options = options;
    this.#parts = parts;
    this.#stopListening = parts.nats.onChange(() => this.#identity?.interrupted());
  }

  /** Resolves when the engine is a member and knows the others. Rejects with a `StartFailure`. */
  static async start(options: ClusterOptions): Promise<Cluster> {
    const { context, nats: natsOptions, prefix, routers } = options;
    const { clock, logger } = context;
    const nats = await NatsConnection.open({
      ...natsOptions,
      ...{ clock, logger, name: `svc ${prefix}`, inboxPrefix: `_INBOX_${prefix}` },
    });
    try {
      const engines = await nats.bucket(`${prefix}_engines`);
      const registrations = await nats.bucket(`${prefix}_registry`);
      // The first router writes the names that all of them reserve.
      const reservations = new SharedReservations(registrations, context, routers?.isFurther !== true);
      context.functions.workerListeners.add((id) => endProofOfGone(context, id));
      const cluster = new Cluster(options, { nats, engines, registrations, reservations });
      // Work that a log trigger caused is recognised on every engine, or two engines log to each other for ever.
      if (context.settings.markKey === undefined && routers?.isFurther !== true) {
        const agree = () => registrations.agree(MARK_KEY, context.quietTraces.key);
        context.quietTraces.adopt(await nats.retry('The engines cannot agree on a key for marks', agree));
      }
      await nats.retry('The engine cannot become a member of the cluster', () => cluster.#begin());
      const refusal = routers?.isFurther === true ? undefined : await cluster.#contradiction();
      if (refusal === undefined) return cluster;
      await cluster.close();
      throw new StartFailure(78, refusal);
    } catch (error) {
      await nats.close();
      throw error;
    }
  }

  /** Why other engines cannot be reached, or what is wrong with the cluster. */
  get trouble(): string | undefined {
    const { nats, engines, registrations } = this.#parts;
    if (this.away !== undefined) return this.away;
    if (this.#identity === undefined) return 'the engine is taking a new identity';
    if (this.#identity.trouble !== undefined) return this.#identity.trouble;
    const weak = [engines, registrations].find((bucket) => !nats.isReplicated(bucket));
    if (weak === undefined) return this.#oddity();
    return (
      `${weak.replicas} of 3 servers keep the bucket ${weak.name}. Run: ` +
      `nats stream update KV_${weak.name} --replicas 3`
    );
  }

  /** Why this engine must not be a member. The key of an engine that was killed stays for some seconds. */
  async #contradiction(): Promise<string | undefined> {
    const { clock } = this.#options.context;
    const endMs = clock.monotonicMs() + SILENCE_MS_MAX + RESTART_MS;
    for (;;) {
      const found = [...this.#differences()].filter(({ differences }) => differences.refused.length > 0);
      const live = found.find(({ isUp }) => isUp) ?? (clock.monotonicMs() < endMs ? undefined : found[0]);
      if (live !== undefined) {
        const [first] = live.differences.refused;
        return `The engine cannot join the cluster: ${first} (engine ${live.id} at ${live.address})`;
      }
      if (found.length === 0) return undefined;
      await new Promise<void>((resolve) => clock.after(RESTART_MS, resolve));
    }
  }

  #oddity(): string | undefined {
    for (const { id, address, differences } of this.#differences()) {
      const all = [...differences.refused, ...differences.odd];
      if (all.length > 0) return `The engine ${id} at ${address} is configured differently: ${all.join(', ')}`;
    }
    return undefined;
  }

  *#differences() {
    const own = this.#options.shared?.();
    if (own === undefined) return;
    for (const [id, { engine, facts }] of this.#identity?.known ?? []) {
      const { address, shared } = facts;
      if (shared !== undefined) yield { id, address, isUp: engine.isUp, differences: differencesOf(own, shared) };
    }
  }

  /** Why nothing can be agreed on now. */
  get away(): string | undefined {
    const { nats } = this.#parts;
    return nats.trouble === undefined ? undefined : `NATS at ${nats.address} is away: ${nats.trouble}`;
  }

  /** Whether another engine can take over the work of this one. */
  get hasOthers(): boolean {
    return this.#others().some(({ status }) => status === 'up');
  }

  async keys(kind: KeyKind): Promise<SharedKeys> {
    const { prefix } = this.#options;
    return new SharedKeys(await this.#parts.nats.bucket(`${prefix}_${kind}`, KEY_KINDS[kind].lifetimeMs));
  }

  async triggers(): Promise<SharedTriggers> {
    const { nats } = this.#parts;
    const bucket = await nats.bucket(`${this.#options.prefix}_triggers`);
    const triggers = new SharedTriggers(bucket, this.#options.context.clock, entryBytesMax(nats));
    // A bucket that another engine has just made takes no values for a moment.
    await nats.retry('The triggers of the cluster cannot be read', () => triggers.open());
    this.#triggers = triggers;
    return triggers;
  }

  /** The address at which other machines reach this engine's workers. */
  announceAddress(address: string): void {
    this.#address = address;
    this.#identity?.factsChanged();
  }

  announceDraining(): void {
    this.#identity?.announceDraining();
  }

  status(): ClusterStatus {
    const { trouble } = this;
    return {
      ...(trouble !== undefined && { trouble }),
      engines: [this.#own(), ...this.#others()].sort((a, b) => (a.id < b.id ? -1 : 1)),
    };
  }

  /** A goodbye, after all work has ended. Never rejects. */
  async close(): Promise<void> {
    this.#isStopped = true;
    this.#stopListening();
    this.#identity?.stop();
    const { nats, reservations } = this.#parts;
    reservations.stop();
    this.#triggers?.stop();
    try {
      if (nats.trouble === undefined) await this.#identity?.leave();
    } catch (error) {
      this.#options.context.logger.warn('The other engines learn of the end of this one by its silence', { error });
    }
    await nats.close();
  }

  async #begin(): Promise<void> {
    const { context, prefix, version, zone, shared, routers } = this.#options;
    const { clock, random, logger } = context;
    const { nats, engines, registrations, reservations } = this.#parts;
    const engineId = random.key();
    const load = () => ({ callsInFlight: context.calls.openCount, isDraining: context.isDraining });
    let loseEarly = (_reason: string): void => {};
    const lostEarly = new Promise<never>((_resolve, reject) => {
      loseEarly = (reason) => reject(new Error(reason));
    });
    const identity = new Identity({
      ...{ context, engineId, engines, registrations, reservations },
      entryBytesMax: entryBytesMax(nats),
      carrier: new NatsCarrier({ nats, prefix, engineId, clock, random, logger, load }),
      facts: () => ({
        ...{ version, address: this.#address, workers: loadOf(context).workers },
        ...(shared !== undefined && { shared: shared() }),
        ...(zone !== undefined && { zone }),
        ...(routers !== undefined && { process: routers.process, ...(routers.isFurther && { is_further: true }) }),
        ...(context.channels.home !== undefined && { channels: context.channels.home }),
      }),
      routers,
      lost: (reason) => {
        if (this.#identity === identity) this.#lost(identity, reason);
        else loseEarly(reason);
      },
    });
    try {
      // An identity that is lost before it knows the others never does.
      await Promise.race([identity.start(), lostEarly]);
    } catch (error) {
      identity.stop();
      identity.forget();
      throw error;
    }
    if (this.#isStopped) return identity.stop();
    this.#identity = identity;
    context.engineId = engineId;
    routers?.becameMember(engineId);
    this.#former?.forget();
    this.#former = undefined;
    if (routers?.isFurther !== true) logger.info(MEMBER_TEXT, { engine: engineId, nats: nats.address });
  }

  #lost(identity: Identity, reason: string): void {
    const { logger, counters } = this.#options.context;
    this.#identity = undefined;
    this.#former?.forget();
    this.#former = identity;
    identity.stop();
    counters.count('cluster.identities_lost');
    logger.warn('The engine begins again as a new member of the cluster', { engine: identity.engineId, reason });
    this.#beginAgain(identity);
  }

  #beginAgain(previous: Identity): void {
    if (this.#isStopped) return;
    const later = (): void => {
      this.#options.context.clock.after(RESTART_MS, () => this.#beginAgain(previous));
    };
    if (this.#parts.nats.trouble !== undefined) return later();
    // Other engines would wait for the silence of the old identity.
    previous
      .leave()
      .then(() => this.#begin())
      .catch(later);
  }

  #own(): ClusterEngine {
    const { context, version, zone } = this.#options;
    let functions = 0;
    for (const entry of context.functions.all()) {
      if (entry.kind === 'worker' && isOfThisProcess(entry)) functions++;
    }
    return {
      ...{ id: this.#identity?.engineId ?? '', address: this.#address, version, zone: zone ?? null },
      ...{ status: 'here', functions, calls: context.calls.processCount },
      workers: sumOfWorkers([loadOf(context), ...context.furtherRouters.values()].map(({ workers }) => workers)),
      ...routersOf(1 + context.otherRouters.size),
    };
  }

  #others(): ClusterEngine[] {
    const known = [...((this.#identity ?? this.#former)?.known.values() ?? [])];
    const firsts = known.filter(({ engine }) => !engine.isFurther);
    return firsts.map(({ engine: first, facts }) => {
      const members = known.filter(({ engine }) => engine === first || engine.first === first);
      const routers = members.map(({ engine }) => engine);
      const workers = members.flatMap(({ facts: { workers: counts = [] } }) => counts);
      const isUp = routers.every((router) => router.isUp);
      return {
        id: first.id,
        address: facts.address,
        version: facts.version,
        zone: facts.zone ?? null,
        status: isUp ? (routers.some(({ isDraining }) => isDraining) ? 'draining' : 'up') : 'unreachable',
        ...(workers.length > 0 && { workers: sumOfWorkers(workers) }),
        functions: new Set(routers.flatMap(({ functions }) => [...functions])).size,
        calls: routers.reduce((sum, { callsInFlight }) => sum + callsInFlight, 0),
        ...routersOf(routers.length),
      };
    });
  }
}

function isOfThisProcess({ executors, remotes }: WorkerEntry): boolean {
  return executors.length > 0 || remotes.some(({ engine }) => engine.isRouter);
}

function routersOf(routers: number): Pick<ClusterEngine, 'routers'> {
  return routers > 1 ? { routers } : {};
}
