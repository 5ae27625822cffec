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

export const SECTIONS = ['Engine', 'Calling things', 'Looking around', 'Data', 'Help'] as const;
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
    name: 'trigger',
    section: 'Calling things',
    summary: 'Call a function and print its result.',
    load: async () => (await import('./commands/trigger.ts')).trigger,
  },
  {
    name: 'event emit',
    section: 'Calling things',
    summary: 'Publish an event and list the triggers it fires.',
    load: async () => (await import('./commands/event-emit.ts')).eventEmit,
  },
  {
    name: 'triggers fire',
    section: 'Calling things',
    summary: 'Fire a trigger now.',
    load: async () => (await import('./commands/triggers-fire.ts')).triggersFire,
  },
  {
    name: 'triggers list',
    section: 'Looking around',
    summary: 'List the triggers, with their state.',
    load: async () => (await import('./commands/triggers-list.ts')).triggersList,
  },
  {
    name: 'http',
    section: 'Calling things',
    summary: 'Send a request to an HTTP trigger.',
    load: async () => (await import('./commands/http.ts')).http,
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
    name: 'state scopes',
    section: 'Data',
    summary: 'List the scopes of the state.',
    load: async () => (await import('./commands/state-scopes.ts')).stateScopes,
  },
  {
    name: 'state list',
    section: 'Data',
    summary: 'List the entries of a scope.',
    load: async () => (await import('./commands/state-list.ts')).stateList,
  },
  {
    name: 'state get',
    section: 'Data',
    summary: 'Print the value of an entry.',
    load: async () => (await import('./commands/state-get.ts')).stateGet,
  },
  {
    name: 'state set',
    section: 'Data',
    summary: 'Write the value of an entry.',
    load: async () => (await import('./commands/state-set.ts')).stateSet,
  },
  {
    name: 'state update',
    section: 'Data',
    summary: 'Change the value of an entry by operations, in one step.',
    load: async () => (await import('./commands/state-update.ts')).stateUpdate,
  },
  {
    name: 'state delete',
    section: 'Data',
    summary: 'Delete an entry.',
    load: async () => (await import('./commands/state-delete.ts')).stateDelete,
  },
  {
    name: 'state watch',
    section: 'Data',
    summary: 'Print changes of the state as they happen.',
    load: async () => (await import('./commands/state-watch.ts')).stateWatch,
  },
  {
    name: 'state export',
    section: 'Data',
    summary: 'Print entries, one JSON object per line.',
    load: async () => (await import('./commands/state-export.ts')).stateExport,
  },
  {
    name: 'state import',
    section: 'Data',
    summary: 'Write the entries that svc state export printed.',
    load: async () => (await import('./commands/state-import.ts')).stateImport,
  },
  {
    name: 'state diff',
    section: 'Data',
    summary: 'Show how the values of two entries differ.',
    load: async () => (await import('./commands/state-diff.ts')).stateDiff,
  },
  {
    name: 'stream list',
    section: 'Data',
    summary: 'List the streams and how many groups each has.',
    load: async () => (await import('./commands/stream-list.ts')).streamList,
  },
  {
    name: 'stream groups',
    section: 'Data',
    summary: 'List the groups of a stream.',
    load: async () => (await import('./commands/stream-groups.ts')).streamGroups,
  },
  {
    name: 'stream items',
    section: 'Data',
    summary: 'List the items of a group.',
    load: async () => (await import('./commands/stream-items.ts')).streamItems,
  },
  {
    name: 'stream get',
    section: 'Data',
    summary: 'Print the data of an item.',
    load: async () => (await import('./commands/stream-get.ts')).streamGet,
  },
  {
    name: 'stream set',
    section: 'Data',
    summary: 'Write an item; its subscribers are told.',
    load: async () => (await import('./commands/stream-set.ts')).streamSet,
  },
  {
    name: 'stream delete',
    section: 'Data',
    summary: 'Delete an item; its subscribers are told.',
    load: async () => (await import('./commands/stream-delete.ts')).streamDelete,
  },
  {
    name: 'stream send',
    section: 'Data',
    summary: 'Send a custom event to the subscribers of a group.',
    load: async () => (await import('./commands/stream-send.ts')).streamSend,
  },
  {
    name: 'stream watch',
    section: 'Data',
    summary: 'Print the events of a group as they happen.',
    load: async () => (await import('./commands/stream-watch.ts')).streamWatch,
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
