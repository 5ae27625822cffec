// Every command, by name. A command's file is loaded only when it runs or its help is shown, which keeps `svc
// --version` and the client commands fast (CLI-12).

import { ENGINE_AND_WORKERS } from './catalogue-engine.ts';
import { SEEING_AND_CHECKING } from './catalogue-seeing.ts';
import type { Command } from './command.ts';

export interface CatalogueEntry {
  /** The words that are typed. */
  readonly name: string;
  readonly section: Section;
  /** The line in `svc --help`; equal to the summary in the command's own file. */
  readonly summary: string;
  /** Another name of the same command; left out of the overview. */
  readonly aliasOf?: string;
  load(): Promise<Command>;
}

export const SECTIONS = [
  'Engine',
  'Workers',
  'Calling things',
  'Looking around',
  'Seeing things',
  'Checking',
  'Data',
  'Help',
] as const;
export type Section = (typeof SECTIONS)[number];

/** The command of a line without a command word: `svc --config svc-config.yaml`. */
export const DEFAULT_COMMAND = 'start';

export const CATALOGUE: readonly CatalogueEntry[] = [
  ...ENGINE_AND_WORKERS,
  {
    name: 'trigger',
    section: 'Calling things',
    summary: 'Call a function and print its result.',
    load: async () => (await import('../commands/call/trigger.ts')).trigger,
  },
  {
    name: 'event emit',
    section: 'Calling things',
    summary: 'Publish an event and list the triggers it fires.',
    load: async () => (await import('../commands/call/event-emit.ts')).eventEmit,
  },
  {
    name: 'triggers fire',
    section: 'Calling things',
    summary: 'Fire a trigger immediately.',
    load: async () => (await import('../commands/call/triggers-fire.ts')).triggersFire,
  },
  {
    name: 'triggers list',
    section: 'Looking around',
    summary: 'List the triggers, with their state.',
    load: async () => (await import('../commands/call/triggers-list.ts')).triggersList,
  },
  {
    name: 'http',
    section: 'Calling things',
    summary: 'Send a request to an HTTP trigger.',
    load: async () => (await import('../commands/call/http.ts')).http,
  },
  {
    name: 'functions list',
    section: 'Looking around',
    summary: 'List the functions that can be called.',
    load: async () => (await import('../commands/call/functions-list.ts')).functionsList,
  },
  {
    name: 'functions info',
    section: 'Looking around',
    summary: 'Show one function: workers, triggers, schemas.',
    load: async () => (await import('../commands/call/functions-info.ts')).functionsInfo,
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
  ...SEEING_AND_CHECKING,
  {
    name: 'state scopes',
    section: 'Data',
    summary: 'List the scopes of the state.',
    load: async () => (await import('../commands/state/state-scopes.ts')).stateScopes,
  },
  {
    name: 'state list',
    section: 'Data',
    summary: 'List the entries of a scope.',
    load: async () => (await import('../commands/state/state-list.ts')).stateList,
  },
  {
    name: 'state get',
    section: 'Data',
    summary: 'Print the value of an entry.',
    load: async () => (await import('../commands/state/state-get.ts')).stateGet,
  },
  {
    name: 'state set',
    section: 'Data',
    summary: 'Write the value of an entry.',
    load: async () => (await import('../commands/state/state-set.ts')).stateSet,
  },
  {
    name: 'state update',
    section: 'Data',
    summary: 'Apply operations to an entry, in one atomic step.',
    load: async () => (await import('../commands/state/state-update.ts')).stateUpdate,
  },
  {
    name: 'state delete',
    section: 'Data',
    summary: 'Delete an entry.',
    load: async () => (await import('../commands/state/state-delete.ts')).stateDelete,
  },
  {
    name: 'state watch',
    section: 'Data',
    summary: 'Print changes of the state as they happen.',
    load: async () => (await import('../commands/state/state-watch.ts')).stateWatch,
  },
  {
    name: 'state export',
    section: 'Data',
    summary: 'Print entries, one JSON object per line.',
    load: async () => (await import('../commands/state/state-export.ts')).stateExport,
  },
  {
    name: 'state import',
    section: 'Data',
    summary: 'Write entries from the output of svc state export.',
    load: async () => (await import('../commands/state/state-import.ts')).stateImport,
  },
  {
    name: 'state diff',
    section: 'Data',
    summary: 'Compare the values of two entries.',
    load: async () => (await import('../commands/state/state-diff.ts')).stateDiff,
  },
  {
    name: 'stream list',
    section: 'Data',
    summary: 'List the streams and how many groups each has.',
    load: async () => (await import('../commands/stream/stream-list.ts')).streamList,
  },
  {
    name: 'stream groups',
    section: 'Data',
    summary: 'List the groups of a stream.',
    load: async () => (await import('../commands/stream/stream-groups.ts')).streamGroups,
  },
  {
    name: 'stream items',
    section: 'Data',
    summary: 'List the items of a group.',
    load: async () => (await import('../commands/stream/stream-items.ts')).streamItems,
  },
  {
    name: 'stream get',
    section: 'Data',
    summary: 'Print the data of an item.',
    load: async () => (await import('../commands/stream/stream-get.ts')).streamGet,
  },
  {
    name: 'stream set',
    section: 'Data',
    summary: 'Write an item and notify its subscribers.',
    load: async () => (await import('../commands/stream/stream-set.ts')).streamSet,
  },
  {
    name: 'stream delete',
    section: 'Data',
    summary: 'Delete an item and notify its subscribers.',
    load: async () => (await import('../commands/stream/stream-delete.ts')).streamDelete,
  },
  {
    name: 'stream send',
    section: 'Data',
    summary: 'Send a custom event to the subscribers of a group.',
    load: async () => (await import('../commands/stream/stream-send.ts')).streamSend,
  },
  {
    name: 'stream watch',
    section: 'Data',
    summary: 'Print the events of a group as they happen.',
    load: async () => (await import('../commands/stream/stream-watch.ts')).streamWatch,
  },
  {
    name: 'context add',
    section: 'Help',
    summary: 'Save the address of an engine under a name.',
    load: async () => (await import('../commands/context/context-add.ts')).contextAdd,
  },
  {
    name: 'context list',
    section: 'Help',
    summary: 'List the saved engines.',
    load: async () => (await import('../commands/context/context-list.ts')).contextList,
  },
  {
    name: 'context use',
    section: 'Help',
    summary: 'Choose the engine that commands connect to.',
    load: async () => (await import('../commands/context/context-use.ts')).contextUse,
  },
  {
    name: 'context show',
    section: 'Help',
    summary: 'Show which engine commands connect to, and why.',
    load: async () => (await import('../commands/context/context-show.ts')).contextShow,
  },
  {
    name: 'context remove',
    section: 'Help',
    summary: 'Remove a saved engine.',
    load: async () => (await import('../commands/context/context-remove.ts')).contextRemove,
  },
  {
    name: 'completion',
    section: 'Help',
    summary: 'Print a shell script that completes svc commands.',
    load: async () => (await import('../commands/engine/completion.ts')).completion,
  },
  {
    name: 'queue list',
    section: 'Data',
    summary: 'List queues and topics with the number of jobs in each state.',
    load: async () => (await import('../commands/queue/queue-list.ts')).queueList,
  },
  {
    name: 'queue info',
    section: 'Data',
    summary: 'Show one queue or topic: its settings and its jobs.',
    load: async () => (await import('../commands/queue/queue-info.ts')).queueInfo,
  },
  {
    name: 'queue jobs',
    section: 'Data',
    summary: 'List the jobs of a queue in the order of their arrival.',
    load: async () => (await import('../commands/queue/queue-jobs.ts')).queueJobs,
  },
  {
    name: 'queue publish',
    section: 'Data',
    summary: 'Put a job into a queue, or publish to a topic.',
    load: async () => (await import('../commands/queue/queue-publish.ts')).queuePublish,
  },
  {
    name: 'queue pause',
    section: 'Data',
    summary: 'Pause a queue: start no more of its jobs.',
    load: async () => (await import('../commands/queue/queue-pause.ts')).queuePause,
  },
  {
    name: 'queue resume',
    section: 'Data',
    summary: 'Resume a paused queue.',
    load: async () => (await import('../commands/queue/queue-resume.ts')).queueResume,
  },
  {
    name: 'queue dlq list',
    section: 'Data',
    summary: 'List dead letters: jobs that failed for good.',
    load: async () => (await import('../commands/queue/queue-dlq-list.ts')).queueDlqList,
  },
  {
    name: 'queue dlq show',
    section: 'Data',
    summary: 'Show one dead letter: error, attempts and payload.',
    load: async () => (await import('../commands/queue/queue-dlq-show.ts')).queueDlqShow,
  },
  {
    name: 'queue dlq redrive',
    section: 'Data',
    summary: 'Retry dead letters.',
    load: async () => (await import('../commands/queue/queue-dlq-redrive.ts')).queueDlqRedrive,
  },
  {
    name: 'queue dlq discard',
    section: 'Data',
    summary: 'Delete single dead letters.',
    load: async () => (await import('../commands/queue/queue-dlq-discard.ts')).queueDlqDiscard,
  },
  {
    name: 'queue dlq purge',
    section: 'Data',
    summary: 'Delete the dead letters of a queue.',
    load: async () => (await import('../commands/queue/queue-dlq-purge.ts')).queueDlqPurge,
  },
  {
    name: 'version',
    section: 'Help',
    summary: 'Show the versions of the command line, the engine and workers.',
    load: async () => (await import('../commands/engine/version.ts')).version,
  },
];

async function loadWorkersList(): Promise<Command> {
  return (await import('../commands/worker/workers-list.ts')).workersList;
}
