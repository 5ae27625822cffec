// One entry is one port that workers connect to: the bridge, whose connections are trusted, or with `rbac` a port for
// browsers, whose connections are restricted.

import { isDeepStrictEqual } from 'node:util';
import { type ExposeEntry, readExposeEntry } from '../../core/access/expose-filter.ts';
import type { ValueOf } from '../../core/config-fields/fields.ts';
import {
  anything,
  either,
  fields,
  integer,
  listOf,
  mapOf,
  optional,
  refused,
  text,
} from '../../core/config-fields/fields.ts';
import type { FieldProblem } from '../../core/config-fields/fields-check.ts';
import type { ModuleDeclaration } from '../../core/config-fields/module-declaration.ts';
import { BRIDGE_PORT_DEFAULT } from '../../protocol/frames/limits.ts';
import { findTlsContradictions, WORKER_TLS_FIELD } from '../tls-settings.ts';

const exposeEntry = either(
  text(),
  fields({
    match: optional(text({ help: 'Pattern on the function id' })),
    metadata: optional(mapOf(anything(), { help: 'Keys and values that the registration must carry' })),
    namespace: optional(text({ help: "Only 'default' exists" })),
  }),
);

const rbac = fields({
  expose_functions: listOf(exposeEntry, {
    default: [],
    help: 'Functions that connections of this port may call: match("api::*"), or {metadata: {public: true}}',
  }),
  auth_function_id: optional(text({ help: 'Function that decides who may connect, and with what rights' })),
  allow_trigger_types: optional(
    listOf(text(), { help: 'Trigger types that may be bound, unless the auth function returns them; omitted: none' }),
  ),
  shared_queues: listOf(text(), {
    default: [],
    help: 'Queues whose capacity, slots and groups their jobs share with trusted jobs; elsewhere they have their own',
  }),
  on_function_registration_function_id: optional(text({ help: 'Function called before a function is registered' })),
  on_trigger_registration_function_id: optional(text({ help: 'Function called before a trigger is bound' })),
  on_trigger_type_registration_function_id: optional(
    text({ help: 'Function called before a trigger type is registered' }),
  ),
});

const workerManagerConfig = fields({
  port: integer({ min: 0, max: 65_535, default: BRIDGE_PORT_DEFAULT, help: 'Port for workers; 0 takes any free one' }),
  host: text({
    default: '127.0.0.1',
    help: 'Address to listen on; any but loopback needs bridge_token, rbac, or required client certificates',
  }),
  name: optional(
    text({ help: 'Name of a port with rbac, by which jobs of its connections know it; the same on all engines' }),
  ),
  tls: WORKER_TLS_FIELD,
  allowed_origins: optional(
    listOf(text(), {
      help: 'Web origins that may open a connection. If omitted: the console, or with rbac pages of the same host',
    }),
  ),
  handshake_timeout_ms: refused('The socket library enforces this limit itself: about 10 s, on ws 5 s. Remove it.'),
  rbac: optional(rbac, 'Makes it a port for browsers with restricted connections; without it everything may be called'),
  auth_function_id: optional(text({ help: 'The same as rbac.auth_function_id' })),
  middleware_function_id: optional(
    text({ help: "Function that runs instead of every function called on this port, except the engine's own" }),
  ),
  namespaces: refused("This version does not have 'namespaces' yet. Remove it."),
});

export const workerManagerDeclaration = {
  name: 'svc-worker-manager',
  aliases: ['worker-manager'],
  classes: ['modules::worker::WorkerModule'],
  repeatable: true,
  alwaysLoaded: true,
  standsForDefault: ({ rbac: restricted }: WorkerManagerConfig) => restricted === undefined,
  config: workerManagerConfig,
  adapters: [],
  contradictions: findContradictions,
} satisfies ModuleDeclaration<WorkerManagerConfig>;

export type WorkerManagerConfig = ValueOf<typeof workerManagerConfig>;

/** By which jobs know a port. */
export function portName({ name, host, port }: Pick<WorkerManagerConfig, 'name' | 'host' | 'port'>): string {
  return name ?? `${host}:${port}`;
}

/** The auth function of the port, wherever it is written. */
export function authFunctionOf({ auth_function_id: outer, rbac: restricted }: WorkerManagerConfig): string | undefined {
  return restricted?.auth_function_id ?? outer;
}

/**
 * As in `iii`, a port in drop-in mode with an auth function or a registration hook leaves the decision about trigger
 * types to it, unless the configuration lists some (X9).
 */
export function leavesTriggerTypesToHooks(config: WorkerManagerConfig): boolean {
  const { rbac: restricted } = config;
  if (restricted === undefined || restricted.allow_trigger_types !== undefined) return false;
  const hooks = [
    authFunctionOf(config),
    restricted.on_function_registration_function_id,
    restricted.on_trigger_registration_function_id,
    restricted.on_trigger_type_registration_function_id,
  ];
  return hooks.some((id) => id !== undefined);
}

/** The names of the settings that differ. */
export function changedKeys(before: WorkerManagerConfig, after: WorkerManagerConfig): readonly string[] {
  return differingKeys(before, after).flatMap((key) => {
    if (key !== 'rbac' || before.rbac === undefined || after.rbac === undefined) return key;
    return differingKeys(before.rbac, after.rbac).map((inner) => `rbac.${inner}`);
  });
}

/**
 * Those of them that cannot change while the port is open: a port without rbac does not check connections again. A
 * certificate is only for new connections.
 */
export function fixedKeys(before: WorkerManagerConfig, after: WorkerManagerConfig): readonly string[] {
  const hasRbac = before.rbac !== undefined && after.rbac !== undefined;
  const isFixed = (key: string) => FIXED.has(key) || !hasRbac;
  return changedKeys(before, after).filter((key) => key !== 'tls' && isFixed(key));
}

const FIXED: ReadonlySet<string> = new Set(['port', 'host', 'name']);

function differingKeys(before: object, after: object): string[] {
  const [then, now] = [before, after].map((config) => new Map<string, unknown>(Object.entries(config)));
  const keys = new Set([...(then?.keys() ?? []), ...(now?.keys() ?? [])]);
  return [...keys].filter((key) => !isDeepStrictEqual(then?.get(key), now?.get(key))).sort();
}

function findContradictions(config: WorkerManagerConfig): readonly FieldProblem[] {
  const problems = [
    ...(config.rbac?.expose_functions ?? []).flatMap((entry, index) => problemOf(entry, index)),
    ...findTlsContradictions(config.tls),
  ];
  const { auth_function_id: outer, rbac: restricted } = config;
  if (outer !== undefined && restricted === undefined) {
    const message = 'Needs rbac: a port without rbac trusts every connection and calls no function.';
    problems.push({ path: ['auth_function_id'], at: 'key', message });
  }
  if (outer !== undefined && restricted?.auth_function_id !== undefined && outer !== restricted.auth_function_id) {
    const message = 'Differs from rbac.auth_function_id. Give one of them.';
    problems.push({ path: ['auth_function_id'], at: 'value', message });
  }
  return problems;
}

function problemOf(entry: ExposeEntry, index: number): FieldProblem[] {
  const read = readExposeEntry(entry);
  if (read.ok) return [];
  return [{ path: ['rbac', 'expose_functions', index], at: 'value', message: `${read.reason}.` }];
}
