// `svc-cron`: calls functions on a schedule.

import type { Binding } from '../../router/builtin.ts';
import { locationOf, redisUrl } from '../adapter-settings.ts';
import { adapterConfig, type ChosenAdapter, defineModule, HOLDS_NOTHING, type ModuleContext } from '../module.ts';
import { storeClaims, type TickClaims } from './claims.ts';
import { clusterClaims } from './cluster-claims.ts';
import { cronDeclaration, kvAdapter, redisAdapter } from './config.ts';
import { redisClaims } from './redis-claims.ts';
import { CronRunner } from './runner.ts';
import { CRON_TRIGGER_SPEC, CRON_TYPE, cronPayload, readPlan } from './triggers.ts';

export const cronModule = defineModule({
  declaration: cronDeclaration,
  create: (context, _config, adapter) => createCron(context, createClaims(context, adapter), adapter?.name),
});

export function createCron(context: ModuleContext, claims: TickClaims, adapter = kvAdapter.name) {
  const { router, clock, logger } = context;
  const runner = new CronRunner({ router, clock, logger, claims });
  const type = {
    id: CRON_TYPE,
    spec: CRON_TRIGGER_SPEC,
    refuse(config: unknown, binding: Binding) {
      const offence = runner.offence(binding);
      if (offence !== undefined) return offence;
      const read = readPlan(config, clock.nowMs());
      if (!read.ok) return read.reason;
      const { queue } = read.plan;
      const target = queue === undefined ? undefined : router.jobTarget(queue);
      return typeof target === 'string' ? target : undefined;
    },
    bound(binding: Binding, config: unknown) {
      const read = readPlan(config, clock.nowMs());
      if (!read.ok) throw new Error(`A refused config was bound: ${read.reason}`);
      runner.add(binding, read.plan);
    },
    unbound: (binding: Binding) => runner.remove(binding),
    details(binding: Binding) {
      const nextMs = runner.nextMs(binding);
      return nextMs === undefined ? {} : { next_fire_time: new Date(nextMs).toISOString() };
    },
    sample: ({ id }: Binding, nowMs: number) => cronPayload(id, nowMs, nowMs, true),
  };
  return {
    ...HOLDS_NOTHING,
    functions: [],
    triggerTypes: [type],
    async start() {
      await claims.start();
      runner.start();
    },
    drain: () => runner.stop(),
    stop() {
      runner.stop();
      claims.stop();
    },
    health: () => ({
      status: claims.trouble === undefined ? ('healthy' as const) : ('unhealthy' as const),
      adapter,
      details: {
        ...claims.details(),
        triggers: runner.jobCount,
        ...(claims.trouble !== undefined && { trouble: claims.trouble }),
      },
    }),
  };
}

function createClaims(context: ModuleContext, adapter: ChosenAdapter | undefined): TickClaims {
  const { stores, clock, logger, cluster } = context;
  const onFailure = (reason: string): void => logger.error('Cron claims failed', { reason });
  const kv = adapterConfig(adapter, kvAdapter);
  // A store of one engine would let each engine run every tick.
  if (kv !== undefined && cluster !== undefined) {
    return clusterClaims({ cluster, nowMs: () => clock.nowMs(), onFailure });
  }
  if (kv !== undefined) return storeClaims(stores.open(locationOf(kv)), onFailure);
  const shared = adapterConfig(adapter, redisAdapter);
  if (shared === undefined) throw new Error(`The loader accepted an adapter that does not exist: ${adapter?.name}`);
  return redisClaims({
    async createLink() {
      const { RedisLink } = await import('../../effects/redis.ts');
      return new RedisLink({ url: redisUrl(shared), purpose: 'cron', clock, logger });
    },
    keyPrefix: shared.key_prefix,
    nowMs: () => clock.nowMs(),
    onFailure,
    onClockDifference: (differenceMs) =>
      logger.warn('The clocks of this engine and of its Redis differ: ticks come late', { differenceMs }),
  });
}
