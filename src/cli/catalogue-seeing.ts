// The part of the catalogue that looks at what the engine observes: logs, traces, metrics, alerts, and checks of them.

import type { CatalogueEntry } from './catalogue.ts';

export const SEEING_AND_CHECKING: readonly CatalogueEntry[] = [
  {
    name: 'logs',
    section: 'Seeing things',
    summary: 'Show what workers and engine have logged, the newest last.',
    load: async () => (await import('./commands/logs.ts')).logs,
  },
  {
    name: 'trace list',
    section: 'Seeing things',
    summary: 'List the traces that the engine keeps, the newest first.',
    load: async () => (await import('./commands/trace-list.ts')).traceList,
  },
  {
    name: 'trace show',
    section: 'Seeing things',
    summary: 'Draw one trace: what called what, when, and for how long.',
    load: async () => (await import('./commands/trace-show.ts')).traceShow,
  },
  {
    name: 'trace tail',
    section: 'Seeing things',
    summary: 'Print traces as they end.',
    load: async () => (await import('./commands/trace-tail.ts')).traceTail,
  },
  {
    name: 'trace export',
    section: 'Seeing things',
    summary: 'Print one trace as a file for other tools.',
    load: async () => (await import('./commands/trace-export.ts')).traceExport,
  },
  {
    name: 'trace clear',
    section: 'Seeing things',
    summary: 'Delete all traces that the engine keeps.',
    load: async () => (await import('./commands/trace-clear.ts')).traceClear,
  },
  {
    name: 'top',
    section: 'Seeing things',
    summary: 'Show which functions, queues and workers are busy now.',
    load: async () => (await import('./commands/top.ts')).top,
  },
  {
    name: 'metrics',
    section: 'Seeing things',
    summary: 'Show what the engine counts and what workers measure.',
    load: async () => (await import('./commands/metrics.ts')).metrics,
  },
  {
    name: 'alerts list',
    section: 'Seeing things',
    summary: 'List the alert rules, and which of them are firing.',
    load: async () => (await import('./commands/alerts-list.ts')).alertsList,
  },
  {
    name: 'alerts evaluate',
    section: 'Seeing things',
    summary: 'Evaluate the alert rules now, not within 10 seconds.',
    load: async () => (await import('./commands/alerts-evaluate.ts')).alertsEvaluate,
  },
  {
    name: 'check engine',
    section: 'Checking',
    summary: 'Check that the engine answers, in time, and is healthy.',
    load: async () => (await import('./commands/check-engine.ts')).checkEngine,
  },
  {
    name: 'check worker',
    section: 'Checking',
    summary: 'Check that enough workers of a name are connected.',
    load: async () => (await import('./commands/check-worker.ts')).checkWorker,
  },
  {
    name: 'check function',
    section: 'Checking',
    summary: 'Check that a function can be called, and how it did.',
    load: async () => (await import('./commands/check-function.ts')).checkFunction,
  },
  {
    name: 'check queue',
    section: 'Checking',
    summary: 'Check what waits in a queue, how long, and what is dead.',
    load: async () => (await import('./commands/check-queue.ts')).checkQueue,
  },
  {
    name: 'check trigger',
    section: 'Checking',
    summary: 'Check that a trigger is active, and when it fired last.',
    load: async () => (await import('./commands/check-trigger.ts')).checkTrigger,
  },
  {
    name: 'check alerts',
    section: 'Checking',
    summary: 'Check that no alert rule of the engine is firing.',
    load: async () => (await import('./commands/check-alerts.ts')).checkAlerts,
  },
  {
    name: 'doctor',
    section: 'Checking',
    summary: 'Look for what is wrong with this machine, project and engine.',
    load: async () => (await import('./commands/doctor.ts')).doctor,
  },
  {
    name: 'bench',
    section: 'Checking',
    summary: 'Measure how fast the engine does one thing.',
    load: async () => (await import('./commands/bench.ts')).bench,
  },
  {
    name: 'types generate',
    section: 'Looking around',
    summary: 'Write TypeScript types of the functions that can be called.',
    load: async () => (await import('./commands/types-generate.ts')).typesGenerate,
  },
];
