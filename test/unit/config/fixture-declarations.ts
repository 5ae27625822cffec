// Modules with adapters, required fields and secrets, for tests of the configuration.

import { type LoadedConfig, type LoadResult, loadConfig } from '../../../src/config/load.ts';
import type { ConfigProblem } from '../../../src/config/problem.ts';
import { fields, integer, listOf, mapOf, oneOf, optional, text } from '../../../src/core/config-fields/fields.ts';
import type { AdapterDeclaration, ModuleDeclaration } from '../../../src/core/config-fields/module-declaration.ts';

export const workerManager = {
  name: 'svc-worker-manager',
  aliases: ['worker-manager'],
  classes: ['modules::worker::WorkerModule'],
  repeatable: true,
  alwaysLoaded: false,
  config: fields({
    port: integer({ min: 0, max: 65_535, default: 49_134, help: 'Port for workers' }),
    host: text({ default: '127.0.0.1' }),
  }),
  adapters: [],
} satisfies ModuleDeclaration;

const kv = {
  name: 'kv',
  aliases: [],
  classes: ['modules::stream::adapters::KvStore'],
  config: fields({
    store_method: oneOf(['in_memory', 'file_based'], { default: 'file_based' }),
    file_path: text({ default: './data' }),
  }),
} satisfies AdapterDeclaration;

const extstore = {
  name: 'extstore',
  aliases: ['redis'],
  classes: ['modules::stream::adapters::ExtStoreAdapter'],
  config: fields({ extstore_url: text({ default: 'redis://localhost:6379' }), password: optional(text()) }),
} satisfies AdapterDeclaration;

/** Has a required field, so that its config must be present. */
const bridge = {
  name: 'bridge',
  aliases: [],
  classes: [],
  config: fields({ bridge_url: text() }),
} satisfies AdapterDeclaration;

export const stream = {
  name: 'svc-stream',
  aliases: ['stream'],
  classes: ['modules::stream::StreamModule'],
  repeatable: false,
  alwaysLoaded: false,
  config: fields({
    port: integer({ min: 0, max: 65_535, default: 3112 }),
    host: text({ default: '0.0.0.0' }),
    auth_function: optional(text()),
    allowed_origins: listOf(text(), { default: [] }),
  }),
  adapters: [kv, extstore, bridge],
} satisfies ModuleDeclaration;

export const queue = {
  name: 'svc-queue',
  aliases: ['queue'],
  classes: ['modules::queue::QueueModule'],
  repeatable: false,
  alwaysLoaded: false,
  config: fields({
    queue_configs: mapOf(
      fields({
        type: oneOf(['standard', 'fifo'], { default: 'standard' }),
        concurrency: integer({ min: 1, default: 10 }),
      }),
      { default: {} },
    ),
  }),
  adapters: [kv],
} satisfies ModuleDeclaration;

export const FILE = 'svc-config.yaml';

export function load(text: string, env: Readonly<Record<string, string>> = {}): LoadResult {
  return loadConfig({
    text,
    file: FILE,
    env,
    declarations: [workerManager, stream, queue],
    unbuilt: [
      { names: ['svc-cron', 'cron', 'modules::cron::CronModule'], message: 'svc-cron is not in this version yet.' },
    ],
  });
}

/** The configuration of a valid text. */
export function loaded(text: string, env: Readonly<Record<string, string>> = {}): LoadedConfig {
  const result = load(text, env);
  if (!result.ok) throw new Error(result.problems.map(({ path, message }) => `${path}: ${message}`).join('\n'));
  return result.config;
}

/** The problems of a text that must be wrong. */
export function problemsOf(text: string, env: Readonly<Record<string, string>> = {}): readonly ConfigProblem[] {
  const result = load(text, env);
  if (result.ok) throw new Error('The configuration was accepted.');
  return result.problems;
}

/** `line:column path: message` of each problem. */
export function placesOf(text: string, env: Readonly<Record<string, string>> = {}): readonly string[] {
  return problemsOf(text, env).map(({ line, column, path, message }) => `${line}:${column} ${path}: ${message}`);
}
