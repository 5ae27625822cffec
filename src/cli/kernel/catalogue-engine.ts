// Catalogue of the commands for projects, the engine, its configuration and stores, and workers.

import type { CatalogueEntry } from './catalogue.ts';

export const ENGINE_AND_WORKERS: readonly CatalogueEntry[] = [
  {
    name: 'start',
    section: 'Engine',
    summary: 'Start the engine.',
    load: async () => (await import('../commands/engine/start.ts')).start,
  },
  {
    name: 'dev',
    section: 'Engine',
    summary: 'Run the engine and all its workers in one terminal.',
    load: async () => (await import('../commands/engine/dev.ts')).dev,
  },
  {
    name: 'create',
    section: 'Engine',
    summary: 'Create a new project from a template.',
    load: async () => (await import('../commands/engine/create.ts')).create,
  },
  {
    name: 'console',
    section: 'Engine',
    summary: 'Start the web console.',
    load: async () => (await import('../commands/engine/console.ts')).consoleCommand,
  },
  {
    name: 'config check',
    section: 'Engine',
    summary: 'Check the configuration file.',
    load: async () => (await import('../commands/engine/config-check.ts')).configCheck,
  },
  {
    name: 'config show',
    section: 'Engine',
    summary: 'Print the configuration in effect, secrets redacted.',
    load: async () => (await import('../commands/engine/config-show.ts')).configShow,
  },
  {
    name: 'config schema',
    section: 'Engine',
    summary: 'Print the JSON schema of the configuration, for editors.',
    load: async () => (await import('../commands/engine/config-schema.ts')).configSchema,
  },
  {
    name: 'backup',
    section: 'Engine',
    summary: 'Make a consistent copy of the stores and verify it.',
    load: async () => (await import('../commands/engine/backup.ts')).backup,
  },
  {
    name: 'restore',
    section: 'Engine',
    summary: 'Replace the stores with those of a backup.',
    load: async () => (await import('../commands/engine/restore.ts')).restore,
  },
  {
    name: 'worker add',
    section: 'Workers',
    summary: 'Add a worker, or a module, to the configuration and start it.',
    load: async () => (await import('../commands/worker/worker-add.ts')).workerAdd,
  },
  {
    name: 'worker init',
    section: 'Workers',
    summary: 'Create a worker project: a manifest, one function, a test.',
    load: async () => (await import('../commands/worker/worker-init.ts')).workerInit,
  },
  {
    name: 'worker dev',
    section: 'Workers',
    summary: 'Run one worker, and restart it when its files change.',
    load: async () => (await import('../commands/worker/worker-dev.ts')).workerDev,
  },
  {
    name: 'worker info',
    section: 'Workers',
    summary: 'Show a worker that the engine keeps running.',
    load: async () => (await import('../commands/worker/worker-info.ts')).workerInfo,
  },
  {
    name: 'worker start',
    section: 'Workers',
    summary: 'Start a worker of the configuration.',
    load: async () => (await import('../commands/worker/worker-start.ts')).workerStart,
  },
  {
    name: 'worker stop',
    section: 'Workers',
    summary: 'Let a worker finish its calls and stop it.',
    load: async () => (await import('../commands/worker/worker-stop.ts')).workerStop,
  },
  {
    name: 'worker restart',
    section: 'Workers',
    summary: 'Stop a worker and start it again.',
    load: async () => (await import('../commands/worker/worker-restart.ts')).workerRestart,
  },
  {
    name: 'worker remove',
    section: 'Workers',
    summary: 'Stop a worker or module and remove it from the configuration.',
    load: async () => (await import('../commands/worker/worker-remove.ts')).workerRemove,
  },
  {
    name: 'worker logs',
    section: 'Workers',
    summary: 'Print the output of a worker.',
    load: async () => (await import('../commands/worker/worker-logs.ts')).workerLogs,
  },
];
