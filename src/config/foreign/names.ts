// The names of modules and adapters in files of `iii`, and their names here.

/** By the last part of a class, without `Module`; releases have spelt some of them differently. */
const MODULE_CLASSES: Readonly<Record<string, string>> = {
  RestApi: 'svc-http',
  Api: 'svc-http',
  Stream: 'svc-stream',
  Streams: 'svc-stream',
  State: 'svc-state',
  Queue: 'svc-queue',
  PubSub: 'svc-pubsub',
  Event: 'svc-pubsub',
  Cron: 'svc-cron',
  Otel: 'svc-observability',
  Observability: 'svc-observability',
  Logging: 'svc-observability',
  Tracing: 'svc-observability',
  Metrics: 'svc-observability',
  Worker: 'svc-worker-manager',
  Exec: 'svc-exec',
  BridgeClient: 'svc-bridge',
  Bridge: 'svc-bridge',
  HttpFunctions: 'svc-http-functions',
  Telemetry: 'svc-telemetry',
};

/** Entries that have no counterpart and are left out. */
const WITHOUT_COUNTERPART = new Set(['configuration']);

/**
 * The name here of a module that a file of `iii` names; `undefined`: it is unknown. `iii-worker-manager#rbac` is
 * another entry of `iii-worker-manager`.
 */
export function moduleNameOf(word: string): string | undefined {
  const [name = ''] = word.split('#');
  if (name.startsWith('iii-')) return `svc-${name.slice('iii-'.length)}`;
  if (WITHOUT_COUNTERPART.has(name)) return name;
  if (!name.startsWith('modules::')) return name === word ? undefined : name;
  const last = name.slice(name.lastIndexOf(':') + 1).replace(/Module$/, '');
  return Object.hasOwn(MODULE_CLASSES, last) ? MODULE_CLASSES[last] : undefined;
}

/** Whether a release of `iii` has it as a module of its own for logs, traces or metrics. */
export function isPartOfObservability(word: string): boolean {
  return /(Logging|Tracing|Metrics)Module$/.test(word);
}

/** Only `iii` writes such names. */
export function isForeignName(word: string): boolean {
  return word.startsWith('iii-') || word.includes('#');
}

const ADAPTER_CLASSES: readonly (readonly [RegExp, string])[] = [
  [/Redis/, 'redis'],
  [/Rabbit/, 'rabbitmq'],
  [/Bridge/, 'bridge'],
  [/Kv|FileBased|InMemory/, 'kv'],
  [/Builtin/, 'builtin'],
  [/Local/, 'local'],
];

/** The name here of an adapter's class; `undefined`: it is unknown. */
export function adapterNameOf(className: string): string | undefined {
  const last = className.slice(className.lastIndexOf(':') + 1);
  return ADAPTER_CLASSES.find(([pattern]) => pattern.test(last))?.[1];
}
