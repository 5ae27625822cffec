// The fields of the observability module. All are optional: `settings.ts` computes the defaults together with the
// environment, so the schema has none.

import { readPattern } from '../../core/access/pattern.ts';
import {
  either,
  fields,
  flag,
  integer,
  listOf,
  mapOf,
  number,
  oneOf,
  optional,
  secretText,
  secretUrl,
  text,
  url,
  type ValueOf,
} from '../../core/config-fields/fields.ts';
import { checkValue, type FieldProblem } from '../../core/config-fields/fields-check.ts';
import type { ModuleDeclaration } from '../../core/config-fields/module-declaration.ts';
import {
  ALERT_OPERATORS,
  ALERT_WINDOW_SECONDS_MAX,
  type OPERATOR_WORDS,
} from '../../core/telemetry/metrics/alert-rules.ts';
import { PAYLOAD_MODES } from '../../core/telemetry/payloads/payload-rules.ts';
import { ID_BYTES_MAX } from '../../protocol/frames/limits.ts';

const MIB = 1024 * 1024;
const DAY_SECONDS = 86_400;
const COUNT_MAX = 10_000_000;
/** The reason is in `settings.ts`. */
const COUNT_WORDS = '1000 in an entry without a limit of bytes or trace_storage, else 10 000 000';

export const WORDS = {
  exporter: ['memory', 'otlp', 'both'],
  protocol: ['grpc', 'http/protobuf'],
  level: ['trace', 'debug', 'info', 'warn', 'error'],
  format: ['default', 'json'],
} as const;

/** Used by the configuration and for environment variables. */
export const RANGES = {
  ratio: { min: 0, max: 1 },
  count: { min: 1, max: COUNT_MAX },
  seconds: { min: 1, max: 365 * DAY_SECONDS },
  bytes: { min: MIB, max: 64 * 1024 * MIB },
  batch: { min: 1, max: 4_096 },
  intervalMs: { min: 10, max: 3_600_000 },
} as const;

const samplingConfig = fields({
  default: optional(number({ ...RANGES.ratio, help: 'Share of traces kept if no rule matches; sampling_ratio' })),
  rules: listOf(
    fields({
      operation: optional(text({ bytesMax: 256, help: 'Name of the operation; * is any run of characters' })),
      service: optional(text({ bytesMax: 256, help: 'Name of the service; * is any run of characters' })),
      rate: number({ ...RANGES.ratio, help: 'Share of them that is kept' }),
    }),
    { default: [], help: 'The first matching rule decides' },
  ),
  parent_based: flag({ default: true, help: 'A call within a trace follows the decision of its caller' }),
  rate_limit: optional(
    fields({
      max_traces_per_second: number({ min: 0, max: 1_000_000, help: 'Limit of traces kept per second' }),
    }),
    'Without it there is no such limit',
  ),
});

const storageConfig = fields({
  directory: text({
    bytesMax: 4_096,
    default: './data/traces',
    help: 'A separate directory, relative to the directory in which the engine is started',
  }),
  max_disk_bytes: integer({
    min: 8 * MIB,
    max: 48 * 1024 * MIB,
    default: 1024 * MIB,
    help: 'The oldest are removed first',
  }),
  retention_seconds: integer({ ...RANGES.seconds, default: 30 * DAY_SECONDS, help: 'Older ones are removed' }),
  memory_max_bytes: integer({
    ...RANGES.bytes,
    default: 256 * MIB,
    help: 'Memory for the newest of them, which are listed: three quarters for spans, one for logs',
  }),
  any_file_system: flag({ default: false, help: 'Accept a file system that is not of this machine' }),
});

const actionConfig = fields({
  type: oneOf(['log', 'webhook', 'function'], { default: 'log', help: 'A log line, a POST, or a call' }),
  url: optional(secretUrl({ bytesMax: 8_192, help: 'Address of the webhook; the rules of outgoing apply' })),
  path: optional(text({ bytesMax: ID_BYTES_MAX, help: 'Id of the function that is called' })),
});

const alertConfig = fields({
  name: text({ bytesMax: ID_BYTES_MAX, help: 'Unique' }),
  metric: text({
    bytesMax: ID_BYTES_MAX,
    help:
      'svc.invocations.total, .success, .error, .deferred, svc.workers.spawns, .deaths, .active, or the name of a ' +
      'metric of a worker',
  }),
  threshold: number({ help: 'What the value is compared with' }),
  operator: oneOf([...ALERT_OPERATORS, ...operatorWords()], {
    default: '>',
    help: 'Compares the value, on its left, with the threshold',
  }),
  window_seconds: number({ min: 1, max: ALERT_WINDOW_SECONDS_MAX, default: 60, help: 'How far back the value looks' }),
  cooldown_seconds: number({
    min: 0,
    max: 30 * DAY_SECONDS,
    default: 60,
    help: 'Shortest time between two actions',
  }),
  enabled: flag({ default: true, help: 'false: it never fires' }),
  action: actionConfig,
});

export const otelConfig = fields({
  enabled: optional(flag({ help: 'Whether spans are made; false in an entry, true without one. OTEL_ENABLED' })),
  service_name: optional(text({ bytesMax: 256, help: "The engine's own name, svc. OTEL_SERVICE_NAME" })),
  service_version: optional(text({ bytesMax: 256, help: 'SERVICE_VERSION' })),
  service_namespace: optional(text({ bytesMax: 256, help: 'SERVICE_NAMESPACE' })),
  service_instance_id: optional(
    text({ bytesMax: 256, help: 'Distinguishes engines of one service in exported telemetry. SERVICE_INSTANCE_ID' }),
  ),
  exporter: optional(
    oneOf(WORDS.exporter, { help: 'Where spans go: otlp in an entry, memory without one. OTEL_EXPORTER_TYPE' }),
  ),
  endpoint: optional(url({ bytesMax: 2_048, help: 'Collector, http://localhost:4317. OTEL_EXPORTER_OTLP_ENDPOINT' })),
  protocol: optional(oneOf(WORDS.protocol, { help: 'Protocol of the collector, grpc. OTEL_EXPORTER_OTLP_PROTOCOL' })),
  headers: optional(
    mapOf(secretText(), { help: 'Sent with every export. OTEL_EXPORTER_OTLP_HEADERS, as key=value,…' }),
  ),
  timeout_ms: optional(integer({ min: 1, max: 600_000, help: 'For one export, 10 000. OTEL_EXPORTER_OTLP_TIMEOUT' })),
  sampling_ratio: optional(
    number({ ...RANGES.ratio, help: 'Share of traces that is kept, 1.0. OTEL_TRACES_SAMPLER_ARG' }),
  ),
  sampling: optional(samplingConfig, 'Which traces are kept, in detail'),
  memory_max_spans: optional(
    integer({ ...RANGES.count, help: `Spans in memory, ${COUNT_WORDS}. OTEL_MEMORY_MAX_SPANS` }),
  ),
  memory_max_bytes: optional(
    integer({ ...RANGES.bytes, help: 'Bytes of them, 64 MiB; with trace_storage three quarters of its memory' }),
  ),
  live_spans: optional(flag({ help: 'List spans before they have ended, true' })),
  metrics_enabled: optional(flag({ help: 'Keep metrics; false in an entry, true without one. OTEL_METRICS_ENABLED' })),
  metrics_exporter: optional(oneOf(['memory', 'otlp'], { help: 'Where they go, memory. OTEL_METRICS_EXPORTER' })),
  metrics_retention_seconds: optional(
    integer({ ...RANGES.seconds, help: 'How long points are kept, 3600. OTEL_METRICS_RETENTION_SECONDS' }),
  ),
  metrics_max_count: optional(integer({ ...RANGES.count, help: 'Points in memory, 10 000. OTEL_METRICS_MAX_COUNT' })),
  metrics_max_bytes: optional(integer({ ...RANGES.bytes, help: 'Bytes of them, 64 MiB' })),
  logs_enabled: optional(flag({ help: 'Keep logs, true' })),
  logs_exporter: optional(oneOf(WORDS.exporter, { help: 'Where they go, memory. OTEL_LOGS_EXPORTER' })),
  logs_max_count: optional(integer({ ...RANGES.count, help: `Logs in memory, ${COUNT_WORDS}` })),
  logs_max_bytes: optional(
    integer({ ...RANGES.bytes, help: 'Bytes of them, 64 MiB; with trace_storage a quarter of its memory' }),
  ),
  logs_retention_seconds: optional(
    integer({ ...RANGES.seconds, help: 'How long they are kept, 3600; with trace_storage as long as it says' }),
  ),
  logs_sampling_ratio: optional(number({ ...RANGES.ratio, help: 'Share of logs that is kept, 1.0' })),
  logs_console_output: optional(flag({ help: "Logs of workers appear among the engine's own lines, true" })),
  logs_console_lines_per_second: optional(
    integer({
      min: 1,
      max: 100_000,
      help: 'Lines of one service there, 200; the rest is a number. Lists have them all',
    }),
  ),
  logs_batch_size: optional(integer({ ...RANGES.batch, help: 'Logs of one export, 100. OTEL_LOGS_BATCH_SIZE' })),
  logs_flush_interval_ms: optional(
    integer({ ...RANGES.intervalMs, help: 'Longest wait for one, 5000. OTEL_LOGS_FLUSH_INTERVAL_MS' }),
  ),
  payloads: optional(
    either(
      oneOf(PAYLOAD_MODES),
      mapOf(oneOf(PAYLOAD_MODES), { help: 'By pattern of function ids; the first that matches decides' }),
    ),
    'Keeps inputs and outputs of calls: off, errors, sampled, all; or a map of patterns to these; off',
  ),
  payload_sampling_ratio: number({
    ...RANGES.ratio,
    default: 0.1,
    help: 'With sampled: the share of traces of which all calls are kept, in addition to those that failed',
  }),
  payload_max_bytes: integer({
    min: 256,
    max: 4 * MIB,
    default: 64 * 1024,
    help: 'Bytes kept of one input or output; a longer one is cut',
  }),
  payload_memory_max_bytes: integer({ ...RANGES.bytes, default: 32 * MIB, help: 'Bytes of all that are kept' }),
  trace_storage: optional(storageConfig, 'Keeps spans and logs on the disk too; without it in memory only'),
  level: optional(oneOf(WORDS.level, { help: "Lowest level of the engine's own lines on the console, info" })),
  format: optional(oneOf(WORDS.format, { help: 'How they look, default' })),
  alerts: listOf(alertConfig, { default: [], help: 'Evaluated every 10 seconds' }),
});

export type OtelConfig = ValueOf<typeof otelConfig>;
export type AlertConfig = ValueOf<typeof alertConfig>;

/** Used if no entry names the module: it then runs with other defaults than for an empty entry. */
export const WITHOUT_ENTRY: OtelConfig = emptyConfig();

export const otelDeclaration = {
  name: 'svc-observability',
  aliases: ['observability'],
  classes: ['modules::observability::OtelModule'],
  repeatable: false,
  alwaysLoaded: true,
  config: otelConfig,
  unaskedConfig: WITHOUT_ENTRY,
  adapters: [],
  contradictions: findContradictions,
} satisfies ModuleDeclaration<OtelConfig>;

function operatorWords(): (keyof typeof OPERATOR_WORDS)[] {
  return ['greaterthan', 'greaterthanorequal', 'lessthan', 'lessthanorequal', 'equal', 'notequal'];
}

function emptyConfig(): OtelConfig {
  const checked = checkValue(otelConfig, {});
  if (!checked.ok) throw new Error('The defaults of svc-observability break its own schema');
  return checked.value;
}

function findContradictions({ alerts, sampling, payloads }: OtelConfig): readonly FieldProblem[] {
  const problems: FieldProblem[] = [];
  const names = new Set<string>();
  for (const [index, { name, action }] of alerts.entries()) {
    const path = ['alerts', index];
    if (names.has(name))
      problems.push({ path: [...path, 'name'], at: 'value', message: 'Another alert has this name.' });
    names.add(name);
    const missing = missingOf(action);
    if (missing !== undefined) {
      const message = `An action of type '${action.type}' needs '${missing}'.`;
      problems.push({ path: [...path, 'action'], at: 'key', message });
    }
  }
  for (const [index, rule] of (sampling?.rules ?? []).entries()) {
    for (const key of ['operation', 'service'] as const) {
      const read = readPattern(rule[key] ?? '*');
      if (read.ok) continue;
      problems.push({ path: ['sampling', 'rules', index, key], at: 'value', message: `The pattern ${read.reason}.` });
    }
  }
  for (const functions of typeof payloads === 'object' ? Object.keys(payloads) : []) {
    const read = readPattern(functions);
    if (read.ok) continue;
    problems.push({ path: ['payloads', functions], at: 'key', message: `The pattern ${read.reason}.` });
  }
  return problems;
}

function missingOf({ type, url, path }: AlertConfig['action']): string | undefined {
  if (type === 'webhook' && url === undefined) return 'url';
  return type === 'function' && path === undefined ? 'path' : undefined;
}
