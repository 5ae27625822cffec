// Claims in the cluster: each engine computes its ticks, and one of them gets each tick.
//
// A tick is a key of schedule and moment that only one engine can create; it is kept for a day. A schedule that one
// engine's worker unregisters may still exist on another engine, so unregistering changes nothing here.

import type { ClusterView, SharedKeysView } from '../module.ts';
import type { Tick, TickClaims } from './claims.ts';

export interface ClusterClaimsOptions {
  readonly cluster: Pick<ClusterView, 'away' | 'keys'>;
  readonly nowMs: () => number;
  readonly onFailure: (reason: string) => void;
}

export function clusterClaims({ cluster, nowMs, onFailure }: ClusterClaimsOptions): TickClaims {
  let ticks: SharedKeysView | undefined;
  let schedules: SharedKeysView | undefined;
  const opened = (keys: SharedKeysView | undefined): SharedKeysView => {
    if (keys === undefined) throw new Error('The module has not been started');
    return keys;
  };
  const claimOne = async ({ trigger, atMs }: Tick): Promise<boolean> => {
    const isWon = await opened(ticks).claim(trigger, String(atMs));
    if (isWon) await opened(schedules).write(String(atMs), trigger);
    return isWon;
  };
  return {
    get trouble() {
      return ticks === undefined ? 'not started' : cluster.away;
    },
    async start() {
      ticks = await cluster.keys('ticks');
      schedules = await cluster.keys('schedules');
    },
    stop() {},
    details: () => ({ claims: 'in the cluster' }),
    open(trigger, done) {
      const settled = async (): Promise<number | undefined> => {
        const seen = await opened(schedules).read(trigger);
        if (seen === undefined) await opened(schedules).write(String(nowMs()), trigger);
        return seen === undefined ? undefined : Number(seen);
      };
      settled().then(done, (error: unknown) => {
        onFailure(String(error));
        done(undefined);
      });
    },
    claim(wanted, done) {
      Promise.all(wanted.map(claimOne)).then(
        (won) => done({ ok: true, won }),
        (error: unknown) => done({ ok: false, reason: String(error) }),
      );
    },
    release() {},
  };
}
