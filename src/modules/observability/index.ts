// `svc-observability`: traces, logs, metrics and alerts. Always runs.
//
//   router, modules ──► Collector (core/telemetry) ──► TelemetryClient ──► telemetry thread ──► rollup thread
//
// Most functions are answered by the telemetry thread in bytes; this folder only passes them on.

import { isDeepStrictEqual } from 'node:util';
import { PRESSURE } from '../../core/limits/pressure.ts';
import { isOfEngine } from '../../core/telemetry/metrics/engine-counters.ts';
import type { ServiceIdentity } from '../../core/telemetry/records/intake.ts';
import { isExported, isKept, type TelemetrySettings } from '../../core/telemetry/records/settings.ts';
import { Collector } from '../../core/telemetry/spans/collector.ts';
import { TelemetryClient } from '../../telemetry/client.ts';
import type { MetricWindow } from '../../telemetry/tasks.ts';
import {
  type ComponentHealth,
  defineModule,
  type EngineModule,
  type ModuleContext,
  type ModuleHealth,
} from '../module.ts';
import { alertsMeasure, measureElsewhere } from './alert-sums.ts';
import { AlertTurns } from './alert-turns.ts';
import { Alerts, alertFunctions } from './alerts.ts';
import { type OtelConfig, otelDeclaration } from './config.ts';
import { baggageFunctions, logFunctions, threadFunctions } from './functions.ts';
import { LogTriggers } from './log-trigger.ts';
import { collectLines, identityOf } from './own-lines.ts';
import { collectorSettings, samplingRules } from './sampling.ts';
import { exporterOptions, resolveTelemetry } from './settings.ts';

export const observabilityModule = defineModule({
  declaration: otelDeclaration,
  create: (context, config) =>
    createModule(context, resolveTelemetry(config, context.environment, context.router.isDropIn)),
});

function createModule(context: ModuleContext, started: TelemetrySettings): EngineModule<OtelConfig> {
  let settings = started;
  const { router, clock, logger, random } = context;
  const identity = identityOf(settings, context);
  const triggers = new LogTriggers({ router, clock, random, logger });
  const client = createClient(context, () => settings, identity, triggers);
  const collector = createCollector(context, settings, client);
  const noteLostTurn = (alert: string, error: unknown) =>
    logger.warn('An alert acts although other engines may act, too', { alert, error: String(error) });
  const measure = async (windows: readonly MetricWindow[]) => {
    await router.others.flushRouters();
    return await client.measure(windows, () => collector.flush());
  };
  const alerts = new Alerts({
    rules: settings.alerts,
    measure,
    measureElsewhere: measureElsewhere(router),
    turns: context.cluster && new AlertTurns(context.cluster, noteLostTurn),
    evaluate: context.threads.evaluateAlerts,
    ...{ router, outgoing: context.outgoing, clock, logger },
  });
  context.taps.batches.watch((batch) => client.take(batch));
  router.observe(collector);
  collectLines(collector, context, identity);
  return {
    functions: [
      ...logFunctions(router, identity),
      ...baggageFunctions,
      ...threadFunctions(client, collector, router),
      ...alertFunctions(alerts, router),
      alertsMeasure(measure),
      samplingRules(() => settings, router),
    ],
    triggerTypes: [triggers],
    async start() {
      client.start();
      alerts.start();
      warnOfUnmeasured(settings, logger);
    },
    async reconfigure(config) {
      const next = resolveTelemetry(config, context.environment, context.router.isDropIn);
      const offence = fixedOffence(settings, next);
      if (offence !== undefined) return { ok: false, reason: offence };
      return {
        ok: true,
        commit() {
          settings = next;
          collector.adopt(collectorSettings(next));
          client.adopt(next.payloads);
          alerts.exchange(next.alerts);
          warnOfUnmeasured(next, logger);
        },
      };
    },
    drain: () => {},
    stop() {
      alerts.stop();
      collector.flush();
    },
    close: () => client.stop(),
    health: () => ({ ...healthOf(client), components: componentsOf(settings, client) }),
    listeners: () => [],
  };
}

/** Sampling rules, rules for payloads and alerts can change at any time; stores and exporters keep their settings. */
function fixedOffence(before: TelemetrySettings, after: TelemetrySettings): string | undefined {
  const { sampling: _one, alerts: _other, payloads: _third, ...fixed } = before;
  const { sampling: _s, alerts: _a, payloads: _p, ...wanted } = after;
  if (isDeepStrictEqual(fixed, { ...wanted, logs: { ...wanted.logs, samplingRatio: fixed.logs.samplingRatio } })) {
    return undefined;
  }
  return 'only sampling, logs_sampling_ratio, payloads and alerts can change while the engine runs';
}

/** An alert on a metric that is not kept never fires. */
function warnOfUnmeasured({ alerts, metrics }: TelemetrySettings, logger: ModuleContext['logger']): void {
  if (metrics.enabled && isKept(metrics.exporter)) return;
  for (const { name, metric, enabled } of alerts) {
    if (!enabled || isOfEngine(metric)) continue;
    const text =
      'An alert never fires: metrics of workers are kept with metrics_enabled and metrics_exporter memory only';
    logger.warn(text, { alert: name, metric });
  }
}

function createClient(
  { router, clock, logger, threads, environment, taps }: ModuleContext,
  settings: () => TelemetrySettings,
  identity: ServiceIdentity,
  triggers: LogTriggers,
): TelemetryClient {
  const exporter = exporterOptions(settings(), identity, environment);
  return new TelemetryClient({
    options: () => ({ settings: settings(), service: identity, exporter, console: logger.console }),
    markKey: () => router.quietTraces.key,
    isForMemoryOnly: exporter === undefined && settings().disk === undefined,
    createThread: () => threads.own('telemetry', true),
    createRollupThread: () => threads.own('rollups'),
    noteGauges(gauges) {
      router.observer?.noteGauges(gauges);
      taps.noteGaugesOfOthers?.(gauges);
    },
    wantedLogs: () => ({ levels: triggers.wanted, ratio: settings().logs.samplingRatio }),
    fireLogs: (firings) => triggers.fire(firings),
    dropped: ({ kind, reason, count }) => router.count('telemetry.dropped', `${kind},${reason}`, count),
    ...{ clock, logger },
  });
}

function createCollector({ router, clock, random }: ModuleContext, settings: TelemetrySettings, sink: TelemetryClient) {
  const context = {
    nowMs: () => clock.nowMs(),
    monotonicMs: () => clock.monotonicMs(),
    after: (delayMs: number, task: () => void) => clock.after(delayMs, task),
    token: () => random.token(),
    fraction: () => random.fraction(),
    isPressed: () => router.pressure.level >= PRESSURE.busy,
    dropped: (kind: string, reason: string, times?: number) =>
      router.count('telemetry.dropped', `${kind},${reason}`, times),
  };
  return new Collector(collectorSettings(settings), context, sink);
}

type Seen = Pick<TelemetryClient, 'stored' | 'exports' | 'failures'>;

const DISABLED: ComponentHealth = { status: 'disabled', details: null };

export function healthOf({ stored, exports, failures }: Seen): ModuleHealth {
  const isFailing = Object.values(exports).some(({ state }) => state !== 'working');
  const trouble = stored.exportTrouble ?? stored.diskTrouble;
  return {
    status: isFailing || trouble !== undefined ? 'degraded' : 'healthy',
    details: {
      exports,
      ...(trouble !== undefined && { trouble }),
      ...(failures > 0 && { thread_failures: failures }),
    },
  };
}

/** The sub-statuses of the module. */
export function componentsOf(
  { resource, traces, metrics, logs }: TelemetrySettings,
  { stored, exports }: Seen,
): Readonly<Record<string, ComponentHealth>> {
  const isExporting = isExported(traces.exporter) || isExported(logs.exporter) || isExported(metrics.exporter);
  const isWorking = Object.values(exports).every(({ state }) => state === 'working');
  const otel = { enabled: traces.enabled, service_name: resource.serviceName, exporter: traces.exporter };
  return {
    otel: traces.enabled ? { status: isExporting && !isWorking ? 'degraded' : 'healthy', details: otel } : DISABLED,
    metrics: metrics.enabled ? { status: 'healthy', details: { stored_metrics: stored.metrics } } : DISABLED,
    logs: logs.enabled ? { status: 'healthy', details: { stored_logs: stored.logs } } : DISABLED,
    spans:
      traces.enabled && isKept(traces.exporter)
        ? { status: 'healthy', details: { stored_spans: stored.spans } }
        : DISABLED,
  };
}
