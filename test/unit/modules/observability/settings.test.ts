import { expect, test } from 'vitest';
import { checkValue } from '../../../../src/core/config-fields/fields-check.ts';
import { otelConfig, otelDeclaration, WITHOUT_ENTRY } from '../../../../src/modules/observability/config.ts';
import { collectorSettings } from '../../../../src/modules/observability/sampling.ts';
import { type Environment, exporterOptions, resolveTelemetry } from '../../../../src/modules/observability/settings.ts';

function read(config: object) {
  const checked = checkValue(otelConfig, config);
  if (!checked.ok) throw new Error(JSON.stringify(checked.problems));
  return checked.value;
}

const resolve = (config: object, env: Environment = {}) => resolveTelemetry(read(config), env);

test('Without an entry everything is on and in memory, and an entry starts from the defaults', () => {
  expect(resolveTelemetry(WITHOUT_ENTRY, {})).toMatchObject({
    traces: { enabled: true, exporter: 'memory' },
    metrics: { enabled: true, exporter: 'memory' },
    logs: { enabled: true, exporter: 'memory' },
  });
  expect(resolveTelemetry(WITHOUT_ENTRY, {}).traces).toMatchObject({
    maxCount: 10_000_000,
    maxBytes: 64 * 1024 * 1024,
  });
  expect(resolve({})).toMatchObject({
    resource: { serviceName: 'svc', serviceVersion: undefined },
    traces: { enabled: false, exporter: 'otlp', maxCount: 1_000 },
    sampling: { defaultRatio: 1, rules: [], parentBased: true },
    metrics: { enabled: false, exporter: 'memory', maxCount: 10_000, retentionMs: 3_600_000 },
    logs: { enabled: true, maxCount: 1_000, retentionMs: 3_600_000, samplingRatio: 1, consoleOutput: true },
    alerts: [],
  });
});

test('[O7] An entry that sets bytes has no count, and one without has 1 000 of each', () => {
  const countsOf = (config: object) => {
    const { traces, logs } = resolve(config);
    return [traces.maxCount, logs.maxCount];
  };
  expect(countsOf({})).toEqual([1_000, 1_000]);
  expect(countsOf({ memory_max_bytes: 1_048_576 })).toEqual([10_000_000, 1_000]);
  expect(countsOf({ logs_max_bytes: 1_048_576 })).toEqual([1_000, 10_000_000]);
  expect(countsOf({ memory_max_bytes: 1_048_576, memory_max_spans: 5 })).toEqual([5, 1_000]);
});

test('The file takes precedence over the environment, and the environment over the default', () => {
  const env = {
    ...{ OTEL_ENABLED: 'true', OTEL_SERVICE_NAME: 'shop', SERVICE_VERSION: '7', SERVICE_NAMESPACE: 'eu' },
    ...{ OTEL_EXPORTER_TYPE: 'both', OTEL_TRACES_SAMPLER_ARG: '0.25', OTEL_MEMORY_MAX_SPANS: '5' },
    ...{ OTEL_METRICS_ENABLED: '1', OTEL_METRICS_EXPORTER: 'otlp', OTEL_METRICS_RETENTION_SECONDS: '60' },
    ...{ OTEL_METRICS_MAX_COUNT: '9', OTEL_LOGS_EXPORTER: 'both', OTEL_LOGS_BATCH_SIZE: '10' },
    OTEL_LOGS_FLUSH_INTERVAL_MS: '100',
  };
  expect(resolve({}, env)).toMatchObject({
    resource: { serviceName: 'shop', serviceVersion: '7', serviceNamespace: 'eu' },
    traces: { enabled: true, exporter: 'both', maxCount: 5 },
    sampling: { defaultRatio: 0.25 },
    metrics: { enabled: true, exporter: 'otlp', retentionMs: 60_000, maxCount: 9 },
    logs: { exporter: 'both', exportBatchSize: 10, exportIntervalMs: 100 },
  });
  const file = { enabled: false, service_name: 'file', sampling_ratio: 0, memory_max_spans: 6, metrics_max_count: 8 };
  expect(resolve(file, env)).toMatchObject({
    resource: { serviceName: 'file' },
    traces: { enabled: false, maxCount: 6 },
    sampling: { defaultRatio: 0 },
    metrics: { maxCount: 8 },
  });
  expect(resolve({ sampling: { default: 0.5 }, sampling_ratio: 1 }, env).sampling.defaultRatio).toBe(0.5);
});

test.each([
  [{ OTEL_TRACES_SAMPLER_ARG: '2' }, 'OTEL_TRACES_SAMPLER_ARG must be a number from 0 to 1'],
  [{ OTEL_ENABLED: 'perhaps' }, 'OTEL_ENABLED must be one of true, false'],
  [{ OTEL_MEMORY_MAX_SPANS: '1.5' }, 'OTEL_MEMORY_MAX_SPANS must be a whole number from 1 to 10000000'],
  [{ OTEL_LOGS_BATCH_SIZE: 'many' }, 'OTEL_LOGS_BATCH_SIZE must be a number from 1 to 4096'],
  [{ OTEL_EXPORTER_TYPE: 'jaeger' }, 'OTEL_EXPORTER_TYPE must be one of memory, otlp, both'],
])('An invalid variable prevents the start: %j', (env, text) => {
  expect(() => resolve({}, env)).toThrow(text);
});

test('Alerts use symbols or words, and a problem is reported with its position', () => {
  const alert = { name: 'a', metric: 'm', threshold: 1 };
  expect(resolve({ alerts: [{ ...alert, operator: 'notequal' }] }).alerts).toEqual([
    {
      ...{ ...alert, operator: '!=', windowSeconds: 60, cooldownSeconds: 60, enabled: true },
      action: { type: 'log' },
    },
  ]);
  const wrong = read({
    alerts: [alert, { ...alert, action: { type: 'webhook' } }, { ...alert, name: 'b', action: { type: 'function' } }],
    sampling: { rules: [{ operation: '*'.repeat(20), rate: 1 }] },
  });
  const problems = otelDeclaration.contradictions(wrong);
  expect(problems.map(({ path, message }) => [path.join('.'), message])).toEqual([
    ['alerts.1.name', 'Another alert has this name.'],
    ['alerts.1.action', "An action of type 'webhook' needs 'url'."],
    ['alerts.2.action', "An action of type 'function' needs 'path'."],
    ['sampling.rules.0.operation', expect.stringContaining('20 stars')],
  ]);
});

test('[X24] Nothing is exported by default', () => {
  const service = { serviceName: 'svc', engineVersion: '1', resource: {} };
  expect(exporterOptions(resolveTelemetry(WITHOUT_ENTRY, {}), service, {})).toBeUndefined();
  expect(exporterOptions(resolve({ exporter: 'both' }), service, {})).toBeUndefined();
  const exported = exporterOptions(resolve({ enabled: true, exporter: 'both' }), service, {});
  expect(exported).toMatchObject({ traces: { url: 'http://localhost:4317', protocol: 'grpc' } });
  expect(exported).not.toHaveProperty('logs');
});

test('With spans in memory, 1 000 traces per second are kept, or fewer where fewer spans fit', () => {
  const memory = { enabled: true, exporter: 'memory', memory_max_spans: 10 };
  const limitOf = (config: object) => collectorSettings(resolve(config)).sampling?.tracesPerSecondMax;
  expect(limitOf(memory)).toBe(10);
  expect(limitOf({ ...memory, memory_max_spans: 5_000 })).toBe(1_000);
  expect(limitOf({ ...memory, sampling: { rate_limit: { max_traces_per_second: 7 } } })).toBe(7);
  expect(limitOf({ ...memory, exporter: 'both' })).toBe(Number.POSITIVE_INFINITY);
});
