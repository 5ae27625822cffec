// Functions, triggers and workers: what is registered now.

import type {
  Firing,
  FunctionDetail,
  FunctionRow,
  TriggerDetail,
  TriggerRow,
  TriggerTypeRow,
  WorkerDetail,
  WorkerRow,
} from '../../../console/api/registry.ts';
import { namespaceOf } from '../../../core/registry/function-table.ts';
import {
  validateFunctionsQuery,
  validateNoQuery,
  validateRangeQuery,
  validateTriggersQuery,
  validateWorkersQuery,
} from '../../../generated/console-requests.ts';
import { parseRawJson } from '../../../protocol/json/byte-string.ts';
import type { Binding } from '../../../router/builtin.ts';
import { workersElsewhere } from '../../workers-elsewhere.ts';
import type { ConsoleContext } from '../console-context.ts';
import { MODULES } from '../sources/built-ins.ts';
import { notFound } from '../sources/failure.ts';
import { type FigureWindow, NO_FIGURES, NO_METRICS } from '../sources/figures.ts';
import { matches, pageOf, type SortKeys } from './page.ts';
import { type Route, reading } from './route.ts';
import { functionRowOf, moduleRows, triggerRowOf, workerRowOf } from './rows.ts';

export function registryRoutes(context: ConsoleContext): readonly Route[] {
  return [
    reading('GET /functions', validateFunctionsQuery, async ({ query }) => {
      const rows = (await functionRows(context, query, query.recent))
        .filter((row) => query.internal === true || !row.internal)
        .filter((row) => matches(query.q, row.function_id, row.description))
        .filter((row) => query.ns === undefined || namespaceOf(row.function_id) === query.ns)
        .filter((row) => query.worker === undefined || isOfferedBy(row, query.worker));
      return pageOf(rows, query, FUNCTION_SORTS);
    }),
    reading('GET /functions/{id}', validateRangeQuery, ({ name, query }) => functionDetail(context, name(0), query)),
    reading('GET /triggers', validateTriggersQuery, async ({ query }) => {
      const { router } = context.module;
      await router.others.learnFirings(query.function_id);
      const rows = [...router.triggers()]
        .filter(({ functionId }) => query.internal === true || namespaceOf(functionId) !== 'engine')
        .filter(({ type }) => query.type === undefined || query.type.split(',').includes(type))
        .filter(({ functionId }) => query.function_id === undefined || functionId === query.function_id)
        .map((binding) => triggerRowOf(router, binding))
        .filter((row) => query.status === undefined || row.status === query.status)
        .filter((row) => matches(query.q, row.id, row.function_id, row.config_summary));
      return pageOf(rows, query, TRIGGER_SORTS);
    }),
    reading('GET /triggers/{id}', validateNoQuery, ({ name }) => triggerDetail(context, name(0))),
    reading('GET /trigger-types', validateNoQuery, () => ({ types: triggerTypes(context) })),
    reading('GET /workers', validateWorkersQuery, async ({ query }) => {
      const rows = (await workerRows(context))
        .filter((row) => query.internal === true || !row.internal)
        .filter((row) => matches(query.q, row.name, row.id));
      return pageOf(rows, query, WORKER_SORTS);
    }),
    reading('GET /workers/{id}', validateNoQuery, ({ name }) => workerDetail(context, name(0))),
  ];
}

const FUNCTION_SORTS: SortKeys<FunctionRow> = {
  id: (row) => row.function_id,
  worker: (row) => row.worker_name,
  triggers: (row) => row.triggers.count,
  calls: (row) => row.figures?.calls_per_minute ?? null,
  errors: (row) => row.figures?.error_rate ?? null,
  p95: (row) => row.figures?.p95_ms ?? null,
};

const TRIGGER_SORTS: SortKeys<TriggerRow> = {
  id: (row) => row.id,
  type: (row) => row.trigger_type,
  function: (row) => row.function_id,
  status: (row) => row.status,
};

const WORKER_SORTS: SortKeys<WorkerRow> = {
  name: (row) => row.name,
  status: (row) => row.status,
  connected_at: (row) => row.connected_at,
  in_flight: (row) => row.in_flight,
  functions: (row) => row.functions.length,
};

async function functionRows(
  { module: { router }, figures }: ConsoleContext,
  window: FigureWindow,
  recent?: boolean,
): Promise<FunctionRow[]> {
  const known = await figures.get(window, recent);
  await router.others.describe();
  return [...router.functions()].map((entry) =>
    functionRowOf(router, entry, known === undefined ? null : (known.get(entry.id) ?? NO_FIGURES)),
  );
}

async function functionDetail(
  { module: { router }, figures }: ConsoleContext,
  id: string,
  window: FigureWindow,
): Promise<FunctionDetail> {
  const known = await figures.get(window);
  await Promise.all([router.others.describe([id]), router.others.learnFirings(id)]);
  const entry = router.functionEntry(id);
  if (entry === undefined) throw notFound('Function', id);
  const row = router.functionRow(entry);
  return {
    ...functionRowOf(router, entry, known === undefined ? null : (known.get(id) ?? NO_FIGURES)),
    metadata: row.metadata ?? null,
    request_schema: row.request_format ?? null,
    response_schema: row.response_format ?? null,
    registered_triggers: [...router.triggersTo(id)].map((binding) => triggerRowOf(router, binding)),
  };
}

function isOfferedBy(row: FunctionRow, worker: string): boolean {
  return row.worker_name === worker || row.workers.some(({ id, name }) => id === worker || name === worker);
}

async function triggerDetail(context: ConsoleContext, id: string): Promise<TriggerDetail> {
  const { router } = context.module;
  const binding = router.trigger(id);
  if (binding === undefined) throw notFound('Trigger', id);
  await router.others.learnFirings(binding.functionId);
  const type = router.triggerType(binding.type);
  const provider = type?.provider;
  const sample = provider?.kind === 'module' ? provider.module.sample?.(binding, router.nowMs) : undefined;
  return {
    ...triggerRowOf(router, binding),
    configuration_schema: type?.spec.configFormat === undefined ? null : parseRawJson(type.spec.configFormat),
    payload_schema: type?.spec.payloadFormat === undefined ? null : parseRawJson(type.spec.payloadFormat),
    sample: sample ?? {},
    firings: await firingsOf(context, binding),
  };
}

const FIRINGS_MAX = 20;

/** From stored traces: those in which the trigger caused a call of its function. */
async function firingsOf({ builtIns }: ConsoleContext, binding: Binding): Promise<Firing[] | null> {
  if (!builtIns.has('engine::traces::list')) return null;
  const asked = {
    attributes: [['trigger.id', binding.id]],
    search_all_spans: true,
    include_internal: true,
    sort_by: 'start_time',
    sort_order: 'desc',
    limit: FIRINGS_MAX,
  };
  const page = await builtIns.ask('engine::traces::list', asked).catch(() => undefined);
  if (page === undefined) return null;
  return page.spans.map((root) => {
    // Other failures in the trace are not the trigger's. For an HTTP request, the answer counts.
    const fired = binding.type === 'http' ? root : (root.found ?? root);
    return {
      at: Math.round(fired.start_time_unix_nano / 1e6),
      trace_id: root.trace_id,
      ok: fired.status !== 'error',
      error: fired.status_description ?? null,
      duration_ms: fired.duration_ms,
    };
  });
}

/** Types of this version's modules, loaded or not, and those of workers. */
function triggerTypes({ module: { router } }: ConsoleContext): TriggerTypeRow[] {
  const counts = new Map<string, number>();
  for (const { type } of router.triggers()) counts.set(type, (counts.get(type) ?? 0) + 1);
  const present = [...router.triggerTypes()].map((type) => {
    const { id, description, worker_name } = router.triggerTypeRow(type);
    return { id, description, worker_name, count: counts.get(id) ?? 0, available: true, reason: null };
  });
  const absent = Object.entries(PROVIDERS)
    .filter(([id]) => router.triggerType(id) === undefined)
    .map(([id, family]) => {
      const module = MODULES[family]?.module ?? family;
      return {
        id,
        description: '',
        worker_name: module,
        count: counts.get(id) ?? 0,
        available: false,
        reason: `Needs the module ${module}: add an entry with name: ${module} to the configuration`,
      };
    });
  return [...present, ...absent].sort((a, b) => (a.id < b.id ? -1 : 1));
}

const PROVIDERS: Readonly<Record<string, string>> = {
  http: 'http',
  cron: 'cron',
  event: 'event',
  'durable:subscriber': 'engine::queue::',
  state: 'state::',
  stream: 'stream::',
  log: 'engine::logs::',
};

async function workerRows({ module, history, workerFigures }: ConsoleContext): Promise<WorkerRow[]> {
  const { router, version, modulesHealth } = module;
  const metrics = await workerFigures.get();
  const elsewhere = await workersElsewhere(router, {});
  await history.look();
  const own = router.workers().map((session) => router.workerRow(session));
  const present = [...own, ...(elsewhere?.workers ?? [])].map((worker) => {
    const row = workerRowOf(worker);
    return { ...row, reconnects: history.reconnectsOf(row.name), metrics: metrics.get(row.id) ?? NO_METRICS };
  });
  return [...present, ...history.gone(), ...moduleRows(router, version, Object.keys(modulesHealth()))];
}

async function workerDetail(context: ConsoleContext, id: string): Promise<WorkerDetail> {
  const { router } = context.module;
  const rows = await workerRows(context);
  const row = rows.find((one) => one.id === id) ?? rows.find((one) => one.name === id);
  if (row === undefined) throw notFound('Worker', id);
  return {
    ...row,
    function_rows: row.functions.flatMap((functionId) => {
      const entry = router.functionEntry(functionId);
      return entry === undefined ? [] : [functionRowOf(router, entry, null)];
    }),
    triggers: [...router.triggers()]
      .filter((binding) => binding.owner?.workerId === row.id)
      .map((binding) => triggerRowOf(router, binding)),
    history: context.history.of(row.name),
  };
}
