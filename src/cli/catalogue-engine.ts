// The part of the catalogue that makes and runs things: projects, the engine, its configuration and stores, workers.

import type { CatalogueEntry } from './catalogue.ts';

export const ENGINE_AND_WORKERS: readonly CatalogueEntry[] = [
  {
    name: 'start',
    section: 'Engine',
    summary: 'Start the engine.',
    load: async () => (await import('./commands/start.ts')).start,
  },
  {
    name: 'dev',
    section: 'Engine',
    summary: 'Run the engine and all its workers in one terminal.',
    load: async () => (await import('./commands/dev.ts')).dev,
  },
  {
    name: 'create',
    section: 'Engine',
    summary: 'Make a new project from a template.',
    load: async () => (await import('./commands/create.ts')).create,
  },
  {
    name: 'console',
    section: 'Engine',
    summary: 'Start the web console.',
    load: async () => (await import('./commands/console.ts')).consoleCommand,
  },
  {
    name: 'config check',
    section: 'Engine',
    summary: 'Check the configuration file.',
    load: async () => (await import('./commands/config-check.ts')).configCheck,
  },
  {
    name: 'config show',
    section: 'Engine',
    summary: 'Print the configuration in effect, secrets redacted.',
    load: async () => (await import('./commands/config-show.ts')).configShow,
  },
  {
    name: 'config schema',
    section: 'Engine',
    summary: 'Print the JSON schema of the configuration, for editors.',
    load: async () => (await import('./commands/config-schema.ts')).configSchema,
  },
  {
    name: 'backup',
    section: 'Engine',
    summary: 'Copy the stores, consistently, and verify the copy.',
    load: async () => (await import('./commands/backup.ts')).backup,
  },
  {
    name: 'restore',
    section: 'Engine',
    summary: 'Put the stores of a backup in place of the present ones.',
    load: async () => (await import('./commands/restore.ts')).restore,
  },
  {
    name: 'worker add',
    section: 'Workers',
    summary: 'Add a worker, or a module, to the configuration and start it.',
    load: async () => (await import('./commands/worker-add.ts')).workerAdd,
  },
  {
    name: 'worker init',
    section: 'Workers',
    summary: 'Make a worker project: a manifest, one function, a test.',
    load: async () => (await import('./commands/worker-init.ts')).workerInit,
  },
  {
    name: 'worker dev',
    section: 'Workers',
    summary: 'Run one worker, and start it anew when its files change.',
    load: async () => (await import('./commands/worker-dev.ts')).workerDev,
  },
  {
    name: 'worker info',
    section: 'Workers',
    summary: 'Show a worker that the engine keeps running.',
    load: async () => (await import('./commands/worker-info.ts')).workerInfo,
  },
  {
    name: 'worker start',
    section: 'Workers',
    summary: 'Start a worker of the configuration.',
    load: async () => (await import('./commands/worker-start.ts')).workerStart,
  },
  {
    name: 'worker stop',
    section: 'Workers',
    summary: 'Let a worker finish, and stop it.',
    load: async () => (await import('./commands/worker-stop.ts')).workerStop,
  },
  {
    name: 'worker restart',
    section: 'Workers',
    summary: 'Stop a worker and start it again.',
    load: async () => (await import('./commands/worker-restart.ts')).workerRestart,
  },
  {
    name: 'worker remove',
    section: 'Workers',
    summary: 'Stop a worker or a module and take it out of the configuration.',
    load: async () => (await import('./commands/worker-remove.ts')).workerRemove,
  },
  {
    name: 'worker logs',
    section: 'Workers',
    summary: 'Print what a worker wrote to stdout and stderr.',
    load: async () => (await import('./commands/worker-logs.ts')).workerLogs,
  },
];
