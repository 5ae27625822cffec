// Every command, by name: an explicit list, no scanning. A command's file is loaded only when it is run or
// explained, which keeps `svc --version` and the client commands fast (CLI-12).

import type { Command } from './command.ts';

export interface CatalogueEntry {
  /** The words that are typed. */
  readonly name: string;
  readonly section: Section;
  /** The line in `svc --help`; the same as in the command's own file. */
  readonly summary: string;
  /** Another name of the same command; left out of the overview. */
  readonly aliasOf?: string;
  load(): Promise<Command>;
}

export const SECTIONS = ['Engine', 'Calling things', 'Looking around', 'Help'] as const;
export type Section = (typeof SECTIONS)[number];

/** What a line without a command word means: `svc --config svc-config.yaml`. */
export const DEFAULT_COMMAND = 'start';

export const CATALOGUE: readonly CatalogueEntry[] = [
  {
    name: 'start',
    section: 'Engine',
    summary: 'Start the engine.',
    load: async () => (await import('./commands/start.ts')).start,
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
    name: 'trigger',
    section: 'Calling things',
    summary: 'Call a function and print its result.',
    load: async () => (await import('./commands/trigger.ts')).trigger,
  },
  {
    name: 'functions list',
    section: 'Looking around',
    summary: 'List the functions that can be called now.',
    load: async () => (await import('./commands/functions-list.ts')).functionsList,
  },
  {
    name: 'functions info',
    section: 'Looking around',
    summary: 'Show one function: workers, triggers, schemas.',
    load: async () => (await import('./commands/functions-info.ts')).functionsInfo,
  },
  {
    name: 'workers list',
    section: 'Looking around',
    summary: 'List the workers.',
    load: loadWorkersList,
  },
  {
    name: 'worker list',
    section: 'Looking around',
    summary: 'List the workers.',
    aliasOf: 'workers list',
    load: loadWorkersList,
  },
  {
    name: 'version',
    section: 'Help',
    summary: 'Show the versions of command line, engine and workers.',
    load: async () => (await import('./commands/version.ts')).version,
  },
];

async function loadWorkersList(): Promise<Command> {
  return (await import('./commands/workers-list.ts')).workersList;
}
