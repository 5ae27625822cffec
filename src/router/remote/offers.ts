// Which offers of other engines a call may use. Engines learn of each other's registrations one after the other: for
// some milliseconds a function can be offered by trusted workers and by restricted connections.

import type { Trust } from '../../core/registry/function-table.ts';
import type { WorkerEntry } from '../context.ts';
import { coveringExecutors } from '../restricted/covering.ts';
import type { RemoteEngine } from './remote-engine.ts';

type Offer = WorkerEntry['remotes'][number];

const RANK: Readonly<Record<Trust, number>> = { restricted: 0, granted: 1, trusted: 2 };

/** Of the workers of this engine that offer the function; `undefined`: there are none. */
export function trustOf(entry: Pick<WorkerEntry, 'id' | 'executors'>): Trust | undefined {
  const [first] = entry.executors;
  if (first === undefined) return undefined;
  if (first.access === undefined) return 'trusted';
  return coveringExecutors(entry).length > 0 ? 'granted' : 'restricted';
}

/** Rises with the trust of the workers that offer the function, on whichever engine; below 0: none does. */
export function trustRank(entry: WorkerEntry | undefined): number {
  if (entry === undefined) return -1;
  const local = trustOf(entry);
  const remote = entry.remotes.map(({ trust }) => RANK[trust]);
  return Math.max(...remote, local === undefined ? -1 : RANK[local]);
}

/** Those of the greatest trust that any engine has. Trusted work uses none of connections without a granted prefix. */
export function usableOffers(entry: WorkerEntry, isTrustedWork: boolean | undefined): readonly Offer[] {
  const { remotes } = entry;
  if (remotes.every(({ trust }) => trust === 'trusted')) return remotes;
  const local = trustOf(entry);
  const ranks = [...remotes.map(({ trust }) => RANK[trust]), local === undefined ? 0 : RANK[local]];
  const least = Math.max(isTrustedWork === true ? RANK.granted : 0, ...ranks);
  return remotes.filter(({ trust }) => RANK[trust] >= least);
}

/** With `newest`: the engine that has a newer registration than this one. */
export function newestElsewhere(
  { balance, specs }: Pick<WorkerEntry, 'balance' | 'specs'>,
  offers: readonly Offer[],
): RemoteEngine | undefined {
  const [first] = offers;
  if (first === undefined || balance !== 'newest') return undefined;
  const newest = offers.reduce((one, other) => (other.order > one.order ? other : one), first);
  const own = specs.at(-1);
  return own === undefined || newest.order > (own.order ?? Number.POSITIVE_INFINITY) ? newest.engine : undefined;
}

/** Other engines of the cluster, and other routers of this process. */
export function allOthers({ remoteEngines, otherRouters }: OthersOf): RemoteEngine[] {
  return [...remoteEngines, ...otherRouters];
}

/** The other engines of the cluster, each by the router that answers for its process. */
export function enginesOf({ remoteEngines }: Pick<OthersOf, 'remoteEngines'>): RemoteEngine[] {
  return [...remoteEngines].filter(({ isFurther }) => !isFurther);
}

interface OthersOf {
  readonly remoteEngines: ReadonlySet<RemoteEngine>;
  readonly otherRouters: ReadonlySet<RemoteEngine>;
}
