// The engine's configuration, and the engine as a whole: its parts, their health, and how many objects of each kind
// there are.

import type { WorkerRow } from '../../../console/api/registry.ts';
import type { AbsentModule, Counts, Status, TelemetryFlags } from '../../../console/api/system.ts';
import { sumOfWorkers } from '../../../core/cluster/status.ts';
import { areScarce } from '../../../effects/open-files.ts';
import { validateNoQuery } from '../../../generated/console-requests.ts';
import type { ConsoleContext } from '../console-context.ts';
import { type Answers, MODULES } from '../sources/built-ins.ts';
import { listQueues } from './queue-routes.ts';
import { type Route, reading } from './route.ts';
import type { isInternal } from './rows.ts';
import { listStreams } from './stream-routes.ts';

export async function statusOf(context: ConsoleContext): Promise<Status> {
  const { router, version, configuration, transport, modulesHealth } = context.module;
  const { level, reasons } = overloadOf(context);
  const health = await context.builtIns.ask('engine::health::check', {});
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
    absent_modules: absentModules(context),
    telemetry: telemetryOf(context, health),
    overload_level: level,
    overload_reasons: reasons,
    counts: await countsOf(context),
    cluster: context.module.cluster?.status() ?? null,
    timestamp: router.nowMs,
  };
}

function absentModules({ module }: ConsoleContext): AbsentModule[] {
  const loaded = new Set(Object.keys(module.modulesHealth()));
  const known = new Map(Object.values(MODULES).map((missing) => [missing.module, missing.snippet] as const));
  return [...known].filter(([name]) => !loaded.has(name)).map(([name, snippet]) => ({ name, snippet }));
}

function telemetryOf({ builtIns }: ConsoleContext, { components }: Answers['engine::health::check']): TelemetryFlags {
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

export function overloadOf({ module: { router, openFiles } }: Pick<ConsoleContext, 'module'>): {
  readonly level: number;
  readonly reasons: string[];
} {
  const { callsInFlight, callsInFlightMax, worstPressure: pressure } = router;
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
export async function countsOf(context: Pick<ConsoleContext, 'builtIns' | 'module' | 'history'>): Promise<Counts> {
  const { router, cluster } = context.module;
  const ofOtherEngines = (cluster?.status().engines ?? []).flatMap(({ status, workers: counts = [] }) =>
    status === 'here' ? [] : counts,
  );
  const triggers = [...router.triggers()];
  const [streams, queues] = await Promise.all([
    listStreams(context).catch(() => undefined),
    listQueues(context).catch(() => undefined),
    context.history.look(),
  ]);
  const { elsewhere } = context.history;
  const isActive = ({ status, functions }: WorkerRow): boolean => status !== 'draining' && functions.length > 0;
  const ofOtherRouters = { connected: elsewhere.length, active: elsewhere.filter(isActive).length };
  const workers = sumOfWorkers([router.workerCounts, ofOtherRouters, ...ofOtherEngines]);
  return {
    functions: [...router.functions()].filter((entry) => entry.kind === 'worker' && !isMarkedInternal(entry)).length,
    triggers: triggers.length,
    workers: workers.connected,
    workers_active: workers.active,
    streams: streams?.filter(({ type }) => type === 'user').length ?? null,
    queues: queues?.length ?? null,
    dead_letters: queues?.reduce((sum, { dead }) => sum + dead, 0) ?? null,
    triggers_in_error: triggers.filter(({ state, error }) => state === 'refused' || error !== undefined).length,
  };
}

function isMarkedInternal(entry: Parameters<typeof isInternal>[0]): boolean {
  return entry.kind === 'worker' && entry.specs.some(({ metadata }) => metadata?.includes('"internal":true') === true);
}

export function systemRoutes(context: ConsoleContext): readonly Route[] {
  const { engine } = context.module;
  return [
    reading('GET /status', validateNoQuery, () => statusOf(context)),
    reading('GET /config', validateNoQuery, () => engine.config()),
    reading('GET /config/schema', validateNoQuery, () => engine.configSchema()),
  ];
}
