// Functions, workers and triggers as rows of lists and events (wire 6.2 and modules 10.2 to 10.4).

import { type FunctionEntry, type FunctionSpec, namespaceOf } from '../../core/registry/function-table.ts';
import type { TriggerType } from '../../core/registry/trigger-table.ts';
import type { WorkerGauges } from '../../core/telemetry/records/intake.ts';
import { byteStringToText, parseRawJson, type RawJson } from '../../protocol/json/byte-string.ts';
import type { AnyBuiltin, Binding, ModuleTriggerType } from '../builtin.ts';
import type { RouterContext, WorkerEntry } from '../context.ts';
import type { RemoteEngine } from '../remote/remote-engine.ts';
import { RemoteOwner } from '../remote/remote-owner.ts';
import type { Session } from '../session/session.ts';
import { ownFormats } from './own-formats.ts';

export type Entry = FunctionEntry<Session, AnyBuiltin, RemoteEngine>;

export interface FunctionRow {
  function_id: string;
  namespace: string;
  worker_name: string;
  description?: string;
  metadata?: unknown;
  request_format?: unknown;
  response_format?: unknown;
  triggers: { count: number; types: string[] };
  workers: { id: string; name: string }[];
  /** In a cluster: the other engines that reach it. */
  engines?: string[];
  status: 'active' | 'draining';
}

export function functionRow(context: RouterContext, entry: Entry): FunctionRow {
  const spec: Partial<FunctionSpec> | undefined =
    entry.kind === 'builtin' ? entry.spec : (entry.specs.at(-1) ?? specOfRemote(entry.remotes.at(-1)));
  const bound = [...context.triggers.bindingsTo(entry.id)];
  return {
    function_id: entry.id,
    namespace: 'default',
    worker_name: workerNameOf(entry),
    ...(spec?.description !== undefined && { description: spec.description }),
    ...parsed('metadata', spec?.metadata),
    ...(entry.kind === 'builtin' && ownFormats(entry.id)),
    ...parsed('request_format', spec?.requestFormat),
    ...parsed('response_format', spec?.responseFormat),
    triggers: { count: bound.length, types: [...new Set(bound.map((binding) => binding.type))].sort() },
    workers:
      entry.kind === 'builtin'
        ? [{ id: entry.module, name: entry.module }]
        : [
            ...entry.executors.map((session) => ({ id: session.workerId, name: session.displayName })),
            ...entry.remotes.flatMap(workersOfRouter),
          ],
    ...(entry.kind === 'worker' && enginesOf(entry)),
    status: context.isDraining ? 'draining' : 'active',
  };
}

type Offer = WorkerEntry['remotes'][number];

function specOfRemote(offer: Offer | undefined): Partial<FunctionSpec> | undefined {
  return offer && { ...offer.shown, metadata: offer.metadata };
}

/** Other engines do not say which of their workers offer it; routers of this process do. */
function workersOfRouter({ engine, shown }: Offer): FunctionRow['workers'] {
  return (shown?.workers ?? []).map((id) => ({ id, name: engine.workers.get(id)?.name ?? id }));
}

function enginesOf({ remotes }: WorkerEntry): Pick<FunctionRow, 'engines'> {
  const engines = new Set(remotes.filter(({ engine }) => !engine.isRouter).map(({ engine }) => engine.shownId));
  return engines.size === 0 ? {} : { engines: [...engines].sort() };
}

export interface WorkerRow {
  id: string;
  name: string | null;
  description: string | null;
  version: string | null;
  namespace: string;
  runtime: string | null;
  os: string | null;
  status: 'connected' | 'available' | 'busy' | 'draining';
  function_count: number;
  functions: string[];
  connected_at_ms: number;
  active_invocations: number;
  isolation: string | null;
  ip_address: string | null;
  internal: boolean;
  latest_metrics: (WorkerGauges & { readonly runtime: string | null }) | null;
  pid?: number;
  /** Absent: it is connected to the engine that was asked. */
  engine?: string;
}

/** What an engine of a cluster answers to another one. */
export interface WorkersAnswer {
  readonly workers: readonly WorkerRow[];
}

export function workerRow(context: RouterContext, session: Session): WorkerRow {
  const { profile } = session;
  const gauges = context.observer?.gaugesOf(session.generation);
  return {
    id: session.workerId,
    name: profile?.name ?? null,
    description: profile?.description ?? null,
    version: profile?.version ?? null,
    namespace: 'default',
    runtime: profile?.runtime ?? (profile === undefined ? null : 'unknown'),
    os: profile?.os ?? null,
    status: workerStatus(context, session),
    function_count: session.functions.size,
    functions: [...session.functions].sort(),
    connected_at_ms: session.connectedAtMs,
    active_invocations: session.inFlight,
    isolation: profile?.isolation ?? null,
    ip_address: session.remoteAddress,
    internal: false,
    latest_metrics: gauges === undefined ? null : { ...gauges, runtime: profile?.runtime ?? null },
    ...(profile?.pid !== undefined && { pid: profile.pid }),
  };
}

export interface TriggerTypeRow {
  id: string;
  namespace: string;
  worker_name: string;
  description: string;
  /** In a cluster: the other engine to which its worker is connected. */
  engine?: string;
}

export function triggerTypeRow(type: TriggerType<Session, ModuleTriggerType>): TriggerTypeRow {
  return {
    id: type.id,
    namespace: 'default',
    worker_name: providerName(type.provider),
    description: type.spec.description,
    ...(type.provider.kind === 'engine' && { engine: type.provider.engine.shownId }),
  };
}

function providerName(provider: TriggerType<Session, ModuleTriggerType>['provider']): string {
  if (provider.kind === 'module') return 'svc-engine-functions';
  return provider.kind === 'engine' ? `engine ${provider.engine.shownId}` : provider.executor.displayName;
}

export interface TriggerRow {
  id: string;
  trigger_type: string;
  function_id: string;
  worker_name: string;
  worker_id?: string;
  config: unknown;
  config_summary: string;
  metadata?: unknown;
  /** In a cluster: the other engine to which its worker is connected. */
  engine?: string;
  status: 'Active' | 'Inactive' | 'Error';
  error?: string;
  last_fired_at?: string;
}

export function triggerRow(context: RouterContext, binding: Binding): TriggerRow {
  return {
    id: binding.id,
    trigger_type: binding.type,
    function_id: binding.functionId,
    worker_name: binding.owner?.displayName ?? namespaceOf(binding.functionId),
    ...(binding.owner !== undefined && { worker_id: binding.owner.workerId }),
    ...(binding.owner instanceof RemoteOwner &&
      !binding.owner.engine.isRouter && { engine: binding.owner.engine.shownId }),
    config: parseRawJson(binding.config),
    config_summary: summarise(byteStringToText(binding.config)),
    ...parsed('metadata', binding.metadata),
    status: triggerStatus(context, binding),
    ...(binding.error !== undefined && { error: binding.error }),
    ...(binding.lastFiredAtMs !== undefined && { last_fired_at: new Date(binding.lastFiredAtMs).toISOString() }),
    ...detailsOf(context, binding),
  };
}

function detailsOf(context: RouterContext, binding: Binding): Readonly<Record<string, unknown>> {
  const provider = context.triggers.type(binding.type)?.provider;
  if (provider?.kind !== 'module' || binding.state !== 'bound') return {};
  return provider.module.details?.(binding) ?? {};
}

/** The name shown for a function's worker: the newest registrant's, or the first part of the id. */
export function workerNameOf(entry: Entry): string {
  if (entry.kind === 'builtin') return entry.module;
  return entry.executors.at(-1)?.profile?.name ?? namespaceOf(entry.id);
}

function workerStatus(context: RouterContext, session: Session): WorkerRow['status'] {
  if (context.isDraining) return 'draining';
  if (session.inFlight >= session.inFlightMax) return 'busy';
  const hasRegistered = session.functions.size + session.triggers.size + session.triggerTypes.size > 0;
  // `iii` has one status for a connected worker.
  return hasRegistered && !context.settings.isDropIn ? 'available' : 'connected';
}

function triggerStatus(context: RouterContext, binding: Binding): TriggerRow['status'] {
  if (binding.state === 'refused' || binding.error !== undefined) return 'Error';
  if (binding.isDisplaced) return 'Inactive';
  const isLive = binding.state === 'bound' && context.functions.get(binding.functionId) !== undefined;
  return isLive ? 'Active' : 'Inactive';
}

function parsed<K extends string>(key: K, raw: RawJson | undefined): { [key in K]?: unknown } {
  // The compiler loses the literal type of a computed key; the shape is what is written here.
  return raw === undefined ? {} : ({ [key]: parseRawJson(raw) } as { [key in K]?: unknown });
}

const SUMMARY_CHARS_MAX = 80;

function summarise(text: string): string {
  return text.length <= SUMMARY_CHARS_MAX ? text : `${text.slice(0, SUMMARY_CHARS_MAX)}…`;
}
