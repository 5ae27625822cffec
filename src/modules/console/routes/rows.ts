// Functions, triggers and workers as the console shows them, built from the router's rows.

import type { FunctionFigures, FunctionRow, TriggerRow, WorkerRow } from '../../../console/api/registry.ts';
import type { Binding } from '../../../router/builtin.ts';
import type { RouterPort } from '../../../router/port.ts';
import type { WorkerRow as EngineWorkerRow, Entry } from '../../../router/registrations/rows.ts';
import { NO_METRICS } from '../sources/figures.ts';

export function functionRowOf(router: RouterPort, entry: Entry, figures: FunctionFigures | null): FunctionRow {
  const row = router.functionRow(entry);
  return {
    function_id: row.function_id,
    worker_name: row.worker_name,
    description: row.description ?? null,
    status: row.status,
    internal: isInternal(entry, row.metadata),
    triggers: row.triggers,
    workers: row.workers,
    has_request_schema: row.request_format !== undefined,
    figures,
  };
}

/** Functions of the engine, and those that their registration marks as internal. */
export function isInternal(entry: Entry, metadata: unknown): boolean {
  if (entry.kind === 'builtin') return true;
  return typeof metadata === 'object' && metadata !== null && 'internal' in metadata && metadata.internal === true;
}

export function triggerRowOf(router: RouterPort, binding: Binding): TriggerRow {
  const { error, worker_id, metadata, last_fired_at, ...row } = router.triggerRow(binding);
  const next = 'next_fire_time' in row ? row.next_fire_time : undefined;
  return {
    id: row.id,
    trigger_type: row.trigger_type,
    function_id: row.function_id,
    worker_name: row.worker_name,
    worker_id: worker_id ?? null,
    config: row.config,
    config_summary: row.config_summary,
    metadata: metadata ?? null,
    status: row.status,
    reason: error ?? reasonOf(router, binding, row.status),
    last_fired_at: last_fired_at ?? null,
    next_fire_time: typeof next === 'string' ? next : null,
  };
}

function reasonOf(router: RouterPort, binding: Binding, status: TriggerRow['status']): string | null {
  if (status === 'Active') return null;
  if (router.triggerType(binding.type) === undefined) return `Nothing provides the type ${binding.type}`;
  if (binding.isDisplaced) return 'Another binding has taken the route over';
  if (router.functionEntry(binding.functionId) === undefined) return `${binding.functionId} is not registered`;
  return null;
}

/** `reconnects`: connections of this name within the last hour, beyond the first. */
export function workerRowOf(row: EngineWorkerRow): WorkerRow {
  return {
    id: row.id,
    name: row.name ?? row.id,
    status: row.status,
    description: row.description,
    version: row.version,
    runtime: row.runtime,
    os: row.os,
    address: row.ip_address,
    pid: row.pid ?? null,
    connected_at: row.connected_at_ms,
    disconnected_at: null,
    functions: row.functions,
    in_flight: row.active_invocations,
    reconnects: 0,
    internal: row.internal,
    metrics: NO_METRICS,
    ...(row.engine !== undefined && { engine: row.engine }),
  };
}

export function moduleRows(router: RouterPort, version: string, names: readonly string[]): WorkerRow[] {
  const builtins = [...router.functions()].filter((entry) => entry.kind === 'builtin');
  return names.map((name) => ({
    id: name,
    name,
    status: 'available',
    description: null,
    version,
    runtime: 'engine',
    os: null,
    address: null,
    pid: process.pid,
    connected_at: router.startedAtMs,
    disconnected_at: null,
    functions: builtins
      .filter((entry) => entry.module === name)
      .map(({ id }) => id)
      .sort(),
    in_flight: 0,
    reconnects: 0,
    internal: true,
    metrics: NO_METRICS,
  }));
}
