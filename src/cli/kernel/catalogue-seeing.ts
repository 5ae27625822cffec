// Catalogue of the commands for logs, traces, metrics, alerts and checks.

import type { CatalogueEntry } from './catalogue.ts';

export const SEEING_AND_CHECKING: readonly CatalogueEntry[] = [
  {
    name: 'logs',
    section: 'Seeing things',
    summary: 'Show the log of the engine and of all workers, newest last.',
    load: async () => (await import('../commands/watch/logs.ts')).logs,
  },
  {
    name: 'trace list',
    section: 'Seeing things',
    summary: 'List the traces that the engine keeps, newest first.',
    load: async () => (await import('../commands/watch/trace-list.ts')).traceList,
  },
  {
    name: 'trace show',
    section: 'Seeing things',
    summary: 'Draw one trace: its calls, their order and durations.',
    load: async () => (await import('../commands/watch/trace-show.ts')).traceShow,
  },
  {
    name: 'trace tail',
    section: 'Seeing things',
    summary: 'Print traces as they end.',
    load: async () => (await import('../commands/watch/trace-tail.ts')).traceTail,
  },
  {
    name: 'trace export',
    section: 'Seeing things',
    summary: 'Print one trace as a file for other tools.',
    load: async () => (await import('../commands/watch/trace-export.ts')).traceExport,
  },
  {
    name: 'trace clear',
    section: 'Seeing things',
    summary: 'Delete all traces that the engine keeps.',
    load: async () => (await import('../commands/watch/trace-clear.ts')).traceClear,
  },
  {
    name: 'top',
    section: 'Seeing things',
    summary: 'Show the busiest functions, queues and workers, live.',
    load: async () => (await import('../commands/watch/top.ts')).top,
  },
  {
    name: 'metrics',
    section: 'Seeing things',
    summary: 'Show the metrics of the engine and of workers.',
    load: async () => (await import('../commands/watch/metrics.ts')).metrics,
  },
  {
    name: 'alerts list',
    section: 'Seeing things',
    summary: 'List the alert rules, and which of them are firing.',
    load: async () => (await import('../commands/watch/alerts-list.ts')).alertsList,
  },
  {
    name: 'alerts evaluate',
    section: 'Seeing things',
    summary: 'Evaluate the alert rules immediately.',
    load: async () => (await import('../commands/watch/alerts-evaluate.ts')).alertsEvaluate,
  },
  {
    name: 'check engine',
    section: 'Checking',
    summary: 'Check that the engine answers in time and is healthy.',
    load: async () => (await import('../commands/check/check-engine.ts')).checkEngine,
  },
  {
    name: 'check worker',
    section: 'Checking',
    summary: 'Check that enough workers with a name are connected.',
    load: async () => (await import('../commands/check/check-worker.ts')).checkWorker,
  },
  {
    name: 'check function',
    section: 'Checking',
    summary: 'Check that a function can be called, its errors and its durations.',
    load: async () => (await import('../commands/check/check-function.ts')).checkFunction,
  },
  {
    name: 'check queue',
    section: 'Checking',
    summary: 'Check the depth, the oldest job and the dead letters of a queue.',
    load: async () => (await import('../commands/check/check-queue.ts')).checkQueue,
  },
  {
    name: 'check trigger',
    section: 'Checking',
    summary: 'Check that a trigger is active and when it last fired.',
    load: async () => (await import('../commands/check/check-trigger.ts')).checkTrigger,
  },
  {
    name: 'check alerts',
    section: 'Checking',
    summary: 'Check that no alert rule of the engine is firing.',
    load: async () => (await import('../commands/check/check-alerts.ts')).checkAlerts,
  },
  {
    name: 'doctor',
    section: 'Checking',
    summary: 'Find problems of this machine, project and engine.',
    load: async () => (await import('../commands/engine/doctor.ts')).doctor,
  },
  {
    name: 'bench',
    section: 'Checking',
    summary: 'Measure how fast the engine performs one kind of operation.',
    load: async () => (await import('../commands/call/bench.ts')).bench,
  },
  {
    name: 'types generate',
    section: 'Looking around',
    summary: 'Write TypeScript types for the functions that can be called.',
    load: async () => (await import('../commands/call/types-generate.ts')).typesGenerate,
  },
];
