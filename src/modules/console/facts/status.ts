// The engine as a whole: its parts, their health, and how many objects of each kind there are.

import type { AbsentModule, Counts, Status, TelemetryFlags } from '../../../console-api/system.ts';
import { areScarce } from '../../../effects/open-files.ts';
import { isHealth } from '../../../generated/console-answers.ts';
import type { Desk } from '../desk.ts';
import { listQueues } from '../routes/queue-routes.ts';
import type { isInternal } from '../routes/rows.ts';
import { listStreams } from '../routes/stream-routes.ts';
import type { HealthAnswer } from './answers.ts';
import { MODULES } from './built-ins.ts';

export async function statusOf(desk: Desk): Promise<Status> {
  const { router, version, configuration, transport, modulesHealth } = desk.context;
  const { level, reasons } = overloadOf(desk);
  const health = await desk.builtIns.typed<HealthAnswer>('engine::health::check', {}, isHealth);
  return {
    version,
    started_at: router.startedAtMs,
    uptime_ms: router.nowMs - router.startedAtMs,
    status: health.status,
    draining: router.isDraining,
    transport: transport.name,
    node_version: process.version,
    ports: configuration.listeners().map(({ name, address }) => ({ name, address })),
    modules: Object.entries(modulesHealth()).map(([name, { status, adapter, details }]) => ({
      name,
      status,
      adapter: adapter ?? null,
      details: details ?? null,
    })),
    absent_modules: absentModules(desk),
    telemetry: telemetryOf(desk, health),
    overload_level: level,
    overload_reasons: reasons,
    counts: await countsOf(desk),
    timestamp: router.nowMs,
  };
}

function absentModules({ context }: Desk): AbsentModule[] {
  const loaded = new Set(Object.keys(context.modulesHealth()));
  const known = new Map(Object.values(MODULES).map((missing) => [missing.module, missing.snippet] as const));
  return [...known].filter(([name]) => !loaded.has(name)).map(([name, snippet]) => ({ name, snippet }));
}

function telemetryOf({ builtIns }: Desk, { components }: HealthAnswer): TelemetryFlags {
  const has = (family: string): boolean => builtIns.has(`engine::${family}::list`);
  const isOn = (name: 'spans' | 'logs' | 'metrics'): boolean => components[name]?.status !== 'disabled';
  return {
    enabled: has('traces'),
    traces: has('traces') && isOn('spans'),
    logs: has('logs') && isOn('logs'),
    metrics: has('metrics') && isOn('metrics'),
    exporter: components.otel?.details?.exporter ?? null,
    service_name: components.otel?.details?.service_name ?? null,
    dropped: 0,
  };
}

/** Above four fifths of a limit the engine is about to refuse work. */
const NEAR_LIMIT = 0.8;

export function overloadOf({ context: { router, openFiles } }: Pick<Desk, 'context'>): {
  readonly level: number;
  readonly reasons: string[];
} {
  const { callsInFlight, callsInFlightMax, pressure } = router;
  const files = openFiles.count();
  const reasons: string[] = [];
  if (pressure.cause !== undefined) {
    const { quantity, value, limit } = pressure.cause;
    reasons.push(`${quantity} is ${value >= 10 ? Math.round(value) : Number(value.toFixed(3))}, over ${limit}`);
  }
  if (callsInFlight >= callsInFlightMax * NEAR_LIMIT) {
    reasons.push(`${callsInFlight} of ${callsInFlightMax} calls are in flight`);
  }
  if (files !== undefined && areScarce(files)) reasons.push(`${files.open} of ${files.max} files are open`);
  const own = callsInFlight >= callsInFlightMax ? 2 : reasons.length > 0 ? 1 : 0;
  return { level: Math.max(own, pressure.level), reasons };
}

/** Counts that need a store are `null` where that store is missing. */
export async function countsOf(desk: Pick<Desk, 'builtIns' | 'context'>): Promise<Counts> {
  const { router } = desk.context;
  const triggers = [...router.triggers()];
  const workers = router.workers();
  const [streams, queues] = await Promise.all([
    listStreams(desk).catch(() => undefined),
    listQueues(desk).catch(() => undefined),
  ]);
  return {
    functions: [...router.functions()].filter((entry) => entry.kind === 'worker' && !isMarkedInternal(entry)).length,
    triggers: triggers.length,
    workers: workers.length,
    workers_active: workers.filter(({ isAccepting, functions }) => isAccepting && functions.size > 0).length,
    streams: streams?.filter(({ type }) => type === 'user').length ?? null,
    queues: queues?.length ?? null,
    dead_letters: queues?.reduce((sum, { dead }) => sum + dead, 0) ?? null,
    triggers_in_error: triggers.filter(({ state, error }) => state === 'refused' || error !== undefined).length,
  };
}

function isMarkedInternal(entry: Parameters<typeof isInternal>[0]): boolean {
  return entry.kind === 'worker' && entry.facts.some(({ metadata }) => metadata?.includes('"internal":true') === true);
}
