// Every command, by section of `svc --help` and in the order shown there. A command's file is loaded only when the
// command runs or its help is shown, which keeps `svc --version` and the client commands fast (CLI-12).

import { Catalogue } from './kernel/catalogue.ts';

export const CATALOGUE = new Catalogue({
  Engine: [
    {
      name: 'start',
      summary: 'Start the engine.',
      load: async () => (await import('./commands/engine/start.ts')).start,
    },
    {
      name: 'dev',
      summary: 'Run the engine and all its workers in one terminal.',
      load: async () => (await import('./commands/engine/dev.ts')).dev,
    },
    {
      name: 'create',
      summary: 'Create a new project from a template.',
      load: async () => (await import('./commands/engine/create.ts')).create,
    },
    {
      name: 'console',
      summary: 'Start the web console.',
      load: async () => (await import('./commands/engine/console.ts')).consoleCommand,
    },
    {
      name: 'config check',
      summary: 'Check the configuration file.',
      load: async () => (await import('./commands/engine/config.ts')).configCheck,
    },
    {
      name: 'config convert',
      summary: 'Convert a configuration file of iii.',
      load: async () => (await import('./commands/engine/config-convert.ts')).configConvert,
    },
    {
      name: 'config show',
      summary: 'Print the configuration in effect, secrets redacted.',
      load: async () => (await import('./commands/engine/config.ts')).configShow,
    },
    {
      name: 'config schema',
      summary: 'Print the JSON schema of the configuration, for editors.',
      load: async () => (await import('./commands/engine/config.ts')).configSchema,
    },
    {
      name: 'backup',
      summary: 'Make a consistent copy of the stores and verify it.',
      load: async () => (await import('./commands/engine/backup.ts')).backup,
    },
    {
      name: 'restore',
      summary: 'Replace the stores with those of a backup.',
      load: async () => (await import('./commands/engine/backup.ts')).restore,
    },
  ],
  Workers: [
    {
      name: 'worker add',
      summary: 'Add a worker, or a module, to the configuration and start it.',
      load: async () => (await import('./commands/worker/worker-add.ts')).workerAdd,
    },
    {
      name: 'worker init',
      summary: 'Create a worker project: a manifest, one function, a test.',
      load: async () => (await import('./commands/worker/worker-project.ts')).workerInit,
    },
    {
      name: 'worker dev',
      summary: 'Run one worker, and restart it when its files change.',
      load: async () => (await import('./commands/worker/worker-dev.ts')).workerDev,
    },
    {
      name: 'worker info',
      summary: 'Show a worker that the engine keeps running.',
      load: async () => (await import('./commands/worker/worker-info.ts')).workerInfo,
    },
    {
      name: 'worker start',
      summary: 'Start a worker of the configuration.',
      load: async () => (await import('./commands/worker/worker-control.ts')).workerStart,
    },
    {
      name: 'worker stop',
      summary: 'Let a worker finish its calls and stop it.',
      load: async () => (await import('./commands/worker/worker-control.ts')).workerStop,
    },
    {
      name: 'worker restart',
      summary: 'Stop a worker and start it again.',
      load: async () => (await import('./commands/worker/worker-control.ts')).workerRestart,
    },
    {
      name: 'worker remove',
      summary: 'Stop a worker or module and remove it from the configuration.',
      load: async () => (await import('./commands/worker/worker-control.ts')).workerRemove,
    },
    {
      name: 'worker logs',
      summary: 'Print the output of a worker.',
      load: async () => (await import('./commands/worker/worker-logs.ts')).workerLogs,
    },
  ],
  'Calling things': [
    {
      name: 'trigger',
      summary: 'Call a function and print its result.',
      load: async () => (await import('./commands/call/trigger.ts')).trigger,
    },
    {
      name: 'event emit',
      summary: 'Publish an event and list the triggers it fires.',
      load: async () => (await import('./commands/call/triggers.ts')).eventEmit,
    },
    {
      name: 'triggers fire',
      summary: 'Fire a trigger immediately.',
      load: async () => (await import('./commands/call/triggers.ts')).triggersFire,
    },
    {
      name: 'http',
      summary: 'Send a request to an HTTP trigger.',
      load: async () => (await import('./commands/call/http.ts')).http,
    },
  ],
  'Looking around': [
    {
      name: 'cluster status',
      summary: 'List the engines of the cluster.',
      load: async () => (await import('./commands/cluster/status.ts')).clusterStatus,
    },
    {
      name: 'triggers list',
      summary: 'List the triggers, with their state.',
      load: async () => (await import('./commands/call/triggers.ts')).triggersList,
    },
    {
      name: 'function list',
      summary: 'List the functions that can be called.',
      load: async () => (await import('./commands/call/functions.ts')).functionsList,
    },
    {
      name: 'function info',
      summary: 'Show one function: workers, triggers, callers, schemas.',
      load: async () => (await import('./commands/call/functions.ts')).functionsInfo,
    },
    {
      name: 'worker list',
      summary: 'List the workers.',
      load: async () => (await import('./commands/worker/workers-list.ts')).workersList,
    },
    {
      name: 'types generate',
      summary: 'Write TypeScript types for the functions that can be called.',
      load: async () => (await import('./commands/call/types-generate.ts')).typesGenerate,
    },
  ],
  'Seeing things': [
    {
      name: 'logs',
      summary: 'Show the log of the engine and of all workers, newest last.',
      load: async () => (await import('./commands/watch/logs.ts')).logs,
    },
    {
      name: 'runs',
      summary: 'List the runs of a function, newest first.',
      load: async () => (await import('./commands/watch/runs.ts')).runs,
    },
    {
      name: 'run list',
      summary: 'List the runs of a function, newest first.',
      aliasOf: 'runs',
      load: async () => (await import('./commands/watch/runs.ts')).runs,
    },
    {
      name: 'run show',
      summary: 'Show the input and the output of one run.',
      load: async () => (await import('./commands/watch/run-payloads.ts')).runShow,
    },
    {
      name: 'run again',
      summary: 'Call the function of a run again, with the same input.',
      load: async () => (await import('./commands/watch/run-payloads.ts')).runAgain,
    },
    {
      name: 'trace list',
      summary: 'List the traces that the engine keeps, newest first.',
      load: async () => (await import('./commands/watch/trace-list.ts')).traceList,
    },
    {
      name: 'trace show',
      summary: 'Draw one trace: its calls, their order and durations.',
      load: async () => (await import('./commands/watch/trace-show.ts')).traceShow,
    },
    {
      name: 'trace tail',
      summary: 'Print traces as they end.',
      load: async () => (await import('./commands/watch/trace-tail.ts')).traceTail,
    },
    {
      name: 'trace export',
      summary: 'Print one trace as a file for other tools.',
      load: async () => (await import('./commands/watch/trace-show.ts')).traceExport,
    },
    {
      name: 'trace clear',
      summary: 'Delete all traces that the engine keeps.',
      load: async () => (await import('./commands/watch/trace-list.ts')).traceClear,
    },
    {
      name: 'top',
      summary: 'Show the busiest functions, queues and workers, live.',
      load: async () => (await import('./commands/watch/top.ts')).top,
    },
    {
      name: 'metrics',
      summary: 'Show the metrics of the engine and of workers.',
      load: async () => (await import('./commands/watch/metrics.ts')).metrics,
    },
    {
      name: 'alert list',
      summary: 'List the alert rules, and which of them are firing.',
      load: async () => (await import('./commands/watch/alerts.ts')).alertsList,
    },
    {
      name: 'alert evaluate',
      summary: 'Evaluate the alert rules immediately.',
      load: async () => (await import('./commands/watch/alerts.ts')).alertsEvaluate,
    },
  ],
  Checking: [
    {
      name: 'check engine',
      summary: 'Check that the engine answers in time and is healthy.',
      load: async () => (await import('./commands/check/check-engine.ts')).checkEngine,
    },
    {
      name: 'check worker',
      summary: 'Check that enough workers with a name are connected.',
      load: async () => (await import('./commands/check/check-function.ts')).checkWorker,
    },
    {
      name: 'check function',
      summary: 'Check that a function can be called, its errors and its durations.',
      load: async () => (await import('./commands/check/check-function.ts')).checkFunction,
    },
    {
      name: 'check queue',
      summary: 'Check the depth, the oldest job and the dead letters of a queue.',
      load: async () => (await import('./commands/check/check-queue.ts')).checkQueue,
    },
    {
      name: 'check trigger',
      summary: 'Check that a trigger is active and when it last fired.',
      load: async () => (await import('./commands/check/check-function.ts')).checkTrigger,
    },
    {
      name: 'check alerts',
      summary: 'Check that no alert rule of the engine is firing.',
      load: async () => (await import('./commands/check/check-engine.ts')).checkAlerts,
    },
    {
      name: 'doctor',
      summary: 'Find problems of this machine, project and engine.',
      load: async () => (await import('./commands/doctor/doctor.ts')).doctor,
    },
    {
      name: 'bench',
      summary: 'Measure how fast the engine performs one kind of operation.',
      load: async () => (await import('./commands/bench/bench.ts')).bench,
    },
  ],
  Data: [
    {
      name: 'state scopes',
      summary: 'List the scopes of the state.',
      load: async () => (await import('./commands/state/state-read.ts')).stateScopes,
    },
    {
      name: 'state list',
      summary: 'List the entries of a scope.',
      load: async () => (await import('./commands/state/state-read.ts')).stateList,
    },
    {
      name: 'state get',
      summary: 'Print the value of an entry.',
      load: async () => (await import('./commands/state/state-read.ts')).stateGet,
    },
    {
      name: 'state set',
      summary: 'Write the value of an entry.',
      load: async () => (await import('./commands/state/state-write.ts')).stateSet,
    },
    {
      name: 'state update',
      summary: 'Apply operations to an entry, in one atomic step.',
      load: async () => (await import('./commands/state/state-update.ts')).stateUpdate,
    },
    {
      name: 'state delete',
      summary: 'Delete an entry.',
      load: async () => (await import('./commands/state/state-write.ts')).stateDelete,
    },
    {
      name: 'state watch',
      summary: 'Print changes of the state as they happen.',
      load: async () => (await import('./commands/state/state-read.ts')).stateWatch,
    },
    {
      name: 'state export',
      summary: 'Print entries, one JSON object per line.',
      load: async () => (await import('./commands/state/state-copy.ts')).stateExport,
    },
    {
      name: 'state import',
      summary: 'Write entries from the output of svc state export.',
      load: async () => (await import('./commands/state/state-copy.ts')).stateImport,
    },
    {
      name: 'state diff',
      summary: 'Compare the values of two entries.',
      load: async () => (await import('./commands/state/state-diff.ts')).stateDiff,
    },
    {
      name: 'stream list',
      summary: 'List the streams and how many groups each has.',
      load: async () => (await import('./commands/stream/stream.ts')).streamList,
    },
    {
      name: 'stream groups',
      summary: 'List the groups of a stream.',
      load: async () => (await import('./commands/stream/stream.ts')).streamGroups,
    },
    {
      name: 'stream items',
      summary: 'List the items of a group.',
      load: async () => (await import('./commands/stream/stream.ts')).streamItems,
    },
    {
      name: 'stream get',
      summary: 'Print the data of an item.',
      load: async () => (await import('./commands/stream/stream.ts')).streamGet,
    },
    {
      name: 'stream set',
      summary: 'Write an item and notify its subscribers.',
      load: async () => (await import('./commands/stream/stream.ts')).streamSet,
    },
    {
      name: 'stream delete',
      summary: 'Delete an item and notify its subscribers.',
      load: async () => (await import('./commands/stream/stream.ts')).streamDelete,
    },
    {
      name: 'stream send',
      summary: 'Send a custom event to the subscribers of a group.',
      load: async () => (await import('./commands/stream/stream.ts')).streamSend,
    },
    {
      name: 'stream watch',
      summary: 'Print the events of a group as they happen.',
      load: async () => (await import('./commands/stream/stream-watch.ts')).streamWatch,
    },
    {
      name: 'queue list',
      summary: 'List queues and topics with the number of jobs in each state.',
      load: async () => (await import('./commands/queue/queue-list.ts')).queueList,
    },
    {
      name: 'queue info',
      summary: 'Show one queue or topic: its settings and its jobs.',
      load: async () => (await import('./commands/queue/queue-list.ts')).queueInfo,
    },
    {
      name: 'queue jobs',
      summary: 'List the jobs of a queue in the order of their arrival.',
      load: async () => (await import('./commands/queue/queue-jobs.ts')).queueJobs,
    },
    {
      name: 'queue publish',
      summary: 'Put a job into a queue, or publish to a topic.',
      load: async () => (await import('./commands/queue/queue-publish.ts')).queuePublish,
    },
    {
      name: 'queue pause',
      summary: 'Pause a queue: start no more of its jobs.',
      load: async () => (await import('./commands/queue/queue-pause.ts')).queuePause,
    },
    {
      name: 'queue resume',
      summary: 'Resume a paused queue.',
      load: async () => (await import('./commands/queue/queue-pause.ts')).queueResume,
    },
    {
      name: 'queue recover',
      summary: 'Hand jobs over again after their Redis went back in time.',
      load: async () => (await import('./commands/queue/queue-recover.ts')).queueRecover,
    },
    {
      name: 'queue dlq list',
      summary: 'List dead letters: jobs that failed for good.',
      load: async () => (await import('./commands/queue/queue-dlq-list.ts')).queueDlqList,
    },
    {
      name: 'queue dlq show',
      summary: 'Show one dead letter: error, attempts with their traces, payload.',
      load: async () => (await import('./commands/queue/queue-dlq-list.ts')).queueDlqShow,
    },
    {
      name: 'queue dlq redrive',
      summary: 'Retry dead letters.',
      load: async () => (await import('./commands/queue/queue-dlq-redrive.ts')).queueDlqRedrive,
    },
    {
      name: 'queue dlq discard',
      summary: 'Delete single dead letters.',
      load: async () => (await import('./commands/queue/queue-dlq-delete.ts')).queueDlqDiscard,
    },
    {
      name: 'queue dlq purge',
      summary: 'Delete the dead letters of a queue.',
      load: async () => (await import('./commands/queue/queue-dlq-delete.ts')).queueDlqPurge,
    },
  ],
  Help: [
    {
      name: 'context add',
      summary: 'Save the address of an engine under a name.',
      load: async () => (await import('./commands/context/context-change.ts')).contextAdd,
    },
    {
      name: 'context list',
      summary: 'List the saved engines.',
      load: async () => (await import('./commands/context/context-show.ts')).contextList,
    },
    {
      name: 'context use',
      summary: 'Choose the engine that commands connect to.',
      load: async () => (await import('./commands/context/context-change.ts')).contextUse,
    },
    {
      name: 'context show',
      summary: 'Show which engine commands connect to, and why.',
      load: async () => (await import('./commands/context/context-show.ts')).contextShow,
    },
    {
      name: 'context remove',
      summary: 'Remove a saved engine.',
      load: async () => (await import('./commands/context/context-change.ts')).contextRemove,
    },
    {
      name: 'completion',
      summary: 'Print a shell script that completes svc commands.',
      load: async () => (await import('./commands/engine/completion.ts')).completion,
    },
    {
      name: 'version',
      summary: 'Show the versions of the command line, the engine and workers.',
      load: async () => (await import('./commands/engine/version.ts')).version,
    },
  ],
});
