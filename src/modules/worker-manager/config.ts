// One entry is one port that workers connect to: the bridge, which trusts everyone it lets in, or with `rbac` a port
// for browsers, which trusts nobody.

import { isDeepStrictEqual } from 'node:util';
import { type ExposeEntry, readExposeEntry } from '../../core/expose-filter.ts';
import type { ValueOf } from '../../core/fields.ts';
import { anything, either, fields, integer, listOf, mapOf, optional, refused, text } from '../../core/fields.ts';
import type { FieldProblem } from '../../core/fields-check.ts';
import type { ModuleDeclaration } from '../../core/module-declaration.ts';
import { BRIDGE_PORT_DEFAULT } from '../../protocol/limits.ts';

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
  allow_trigger_types: listOf(text(), {
    default: [],
    help: 'Trigger types that may be bound, where the auth function does not say it itself',
  }),
  on_function_registration_function_id: optional(text({ help: 'Function asked before a function is registered' })),
  on_trigger_registration_function_id: optional(text({ help: 'Function asked before a trigger is bound' })),
  on_trigger_type_registration_function_id: optional(
    text({ help: 'Function asked before a trigger type is registered' }),
  ),
});

const workerManagerConfig = fields({
  port: integer({ min: 0, max: 65_535, default: BRIDGE_PORT_DEFAULT, help: 'Port for workers; 0 takes any free one' }),
  host: text({
    default: '127.0.0.1',
    help: 'Address to listen on; anything but loopback needs bridge_token, or rbac',
  }),
  allowed_origins: optional(
    listOf(text(), {
      help: 'Web origins that may open a connection. Without it: the console, or with rbac pages of the same host',
    }),
  ),
  handshake_timeout_ms: refused('The socket library keeps this limit itself: about 10 s, on ws 5 s. Remove it.'),
  rbac: optional(rbac, 'Makes it a port for browsers, which trusts nobody; without it everything may be called'),
  auth_function_id: optional(text({ help: 'The same as rbac.auth_function_id' })),
  middleware_function_id: optional(
    text({ help: "Function that runs in place of every function called on this port, but for the engine's own" }),
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

/** What the port asks about newcomers, wherever it is written. */
export function authFunctionOf({ auth_function_id: outer, rbac: restricted }: WorkerManagerConfig): string | undefined {
  return restricted?.auth_function_id ?? outer;
}

/** What of the port's configuration is different, by name. */
export function changedKeys(before: WorkerManagerConfig, after: WorkerManagerConfig): readonly string[] {
  return differingKeys(before, after).flatMap((key) => {
    if (key !== 'rbac' || before.rbac === undefined || after.rbac === undefined) return key;
    return differingKeys(before.rbac, after.rbac).map((inner) => `rbac.${inner}`);
  });
}

/** Of these, what cannot change while the port is open: a port without rbac judges nobody twice. */
export function fixedKeys(before: WorkerManagerConfig, after: WorkerManagerConfig): readonly string[] {
  const isGuarded = before.rbac !== undefined && after.rbac !== undefined;
  return changedKeys(before, after).filter((key) => !isGuarded || key === 'port' || key === 'host');
}

function differingKeys(before: object, after: object): string[] {
  const [then, now] = [before, after].map((config) => new Map<string, unknown>(Object.entries(config)));
  const keys = new Set([...(then?.keys() ?? []), ...(now?.keys() ?? [])]);
  return [...keys].filter((key) => !isDeepStrictEqual(then?.get(key), now?.get(key))).sort();
}

function findContradictions(config: WorkerManagerConfig): readonly FieldProblem[] {
  const problems = (config.rbac?.expose_functions ?? []).flatMap((entry, index) => problemOf(entry, index));
  const { auth_function_id: outer, rbac: restricted } = config;
  if (outer !== undefined && restricted === undefined) {
    const message = 'Needs rbac beside it: a port without rbac trusts everyone and asks no function.';
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
