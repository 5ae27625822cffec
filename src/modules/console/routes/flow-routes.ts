// The flow graph (FLO-2), with nodes and edges from registrations and edges from stored traces, and the places of its
// nodes that a user chose.

import type { FlowEdge, FlowGraph, FlowNode, FlowQuery } from '../../../console/api/flow.ts';
import { namespaceOf } from '../../../core/registry/function-table.ts';
import { validateFlowLayout, validateFlowQuery, validateNoQuery } from '../../../generated/console-requests.ts';
import { RAW_NULL, type RawJson } from '../../../protocol/json/byte-string.ts';
import type { ConsoleContext } from '../console-context.ts';
import type { Answers } from '../sources/built-ins.ts';
import { failure } from '../sources/failure.ts';
import { objectText, RawAnswer } from '../sources/json-text.ts';
import { type Route, reading, sending } from './route.ts';
import { functionRowOf, triggerRowOf } from './rows.ts';

/** As in `iii` (modules 19). */
const SCOPE = '__console.flowConfigs';
const LAYOUT_ID = /^[\w.-]{1,128}$/;

export function flowRoutes(context: ConsoleContext): readonly Route[] {
  const { builtIns } = context;
  return [
    reading('GET /flow/graph', validateFlowQuery, ({ query }) => flowGraph(context, query)),
    reading('GET /flow/layout/{id}', validateNoQuery, async ({ name }) => {
      const key = layoutId(name(0));
      return layout(key, await builtIns.text('state::get', { scope: SCOPE, key }));
    }),
    sending('PUT /flow/layout/{id}', validateFlowLayout, async ({ name, raw }) => {
      const key = layoutId(name(0));
      const config = raw('config') ?? RAW_NULL;
      await builtIns.ofText('state::set', objectText({ scope: SCOPE, key }, { value: config }));
      return layout(key, config);
    }),
  ];
}

function layout(id: string, config: RawJson): RawAnswer {
  return new RawAnswer(objectText({ id }, { config }));
}

function layoutId(id: string): string {
  if (LAYOUT_ID.test(id)) return id;
  throw failure('BAD_REQUEST', `The id of a layout has letters, digits, '-', '_' and '.', at most 128`);
}

const WINDOW_MS = 900_000;

export async function flowGraph(context: ConsoleContext, query: FlowQuery): Promise<FlowGraph> {
  const nodes = new Map<string, FlowNode>();
  const edges = new Map<string, FlowEdge>();
  addRegistrations(context, nodes, edges);
  const { router } = context.module;
  const { nowMs } = router;
  // Nothing was called before the engine started.
  const start = Math.max(router.startedAtMs, query.start_time ?? nowMs - WINDOW_MS);
  const end = query.end_time ?? nowMs;
  const range = { start_time: start, end_time: end };
  const [seen, counted] = await Promise.all([seenEdges(context, range), countedEdges(context, range)]);
  const minutes = Math.max(1_000, end - start) / 60_000;
  for (const edge of new Map([...(seen?.edges ?? []), ...counted].map((edge) => [idOf(edge), edge])).values()) {
    const from = functionNode(edge.from);
    const to = edge.to.kind === 'function' ? functionNode(edge.to.name) : nodeOf(edge.to.kind, edge.to.name);
    for (const node of [from, to]) if (!nodes.has(node.id)) nodes.set(node.id, node);
    const id = `${from.id}>${to.id}`;
    const figures = { calls_per_minute: edge.calls / minutes, error_rate: edge.errors / edge.calls };
    const registered = edges.get(id);
    edges.set(id, { id, from: from.id, to: to.id, kind: registered?.kind ?? 'seen', ...figures });
  }
  const shown = [...nodes.values()].filter((node) => query.internal === true || !node.internal);
  const ids = new Set(shown.map(({ id }) => id));
  return {
    nodes: shown,
    edges: [...edges.values()].filter(({ from, to }) => ids.has(from) && ids.has(to)),
    has_traces: seen !== undefined,
  };
}

/**
 * Counts do not depend on which traces are stored. An edge that is stored and not counted is of a client that passes no
 * context on.
 */
async function countedEdges({ builtIns }: ConsoleContext, range: FlowQuery): Promise<readonly SeenEdge[]> {
  const answer = await builtIns.ask('engine::metrics::calls', { ...range, edges: true }).catch(() => undefined);
  return answer?.edges ?? [];
}

type SeenEdge = Answers['engine::traces::edges']['edges'][number];

function idOf({ from, to }: SeenEdge): string {
  return `function:${from}>${to.kind}:${to.name}`;
}

/** `undefined`: no traces are kept here. */
async function seenEdges(
  { builtIns }: ConsoleContext,
  asked: FlowQuery,
): Promise<Answers['engine::traces::edges'] | undefined> {
  return await builtIns.ask('engine::traces::edges', asked).catch(() => undefined);
}

function addRegistrations(
  { module: { router } }: ConsoleContext,
  nodes: Map<string, FlowNode>,
  edges: Map<string, FlowEdge>,
) {
  for (const entry of router.functions()) {
    const row = functionRowOf(router, entry, null);
    if (row.internal) continue;
    const node = functionNode(row.function_id);
    nodes.set(node.id, { ...node, worker: row.worker_name });
  }
  for (const binding of router.triggers()) {
    const row = triggerRowOf(router, binding);
    const config = objectOf(row.config);
    const method = row.trigger_type === 'http' ? String(config.http_method ?? 'GET') : null;
    const node: FlowNode = {
      ...nodeOf('trigger', row.id, labelOf(row.trigger_type, config, row.config_summary)),
      namespace: namespaceOf(row.function_id),
      worker: row.worker_name,
      trigger_type: row.trigger_type,
      method,
      status: row.status === 'Active' ? 'ok' : row.status === 'Error' ? 'error' : 'inactive',
      internal: namespaceOf(row.function_id) === 'engine',
    };
    nodes.set(node.id, node);
    const target = functionNode(row.function_id);
    if (!nodes.has(target.id)) nodes.set(target.id, { ...target, status: 'inactive' });
    addEdge(edges, node.id, target.id);
    const source = sourceOf(row.trigger_type, config);
    if (source === undefined) continue;
    if (!nodes.has(source.id)) nodes.set(source.id, source);
    addEdge(edges, source.id, node.id);
  }
}

/** What a trigger watches. */
function sourceOf(type: string, config: Readonly<Record<string, unknown>>): FlowNode | undefined {
  const { scope, stream_name: stream, topic } = config;
  if (type === 'state' && typeof scope === 'string') return nodeOf('state', scope);
  if (type === 'stream' && typeof stream === 'string') return nodeOf('stream', stream);
  if (type === 'durable:subscriber' && typeof topic === 'string') return nodeOf('topic', topic);
  return undefined;
}

function addEdge(edges: Map<string, FlowEdge>, from: string, to: string): void {
  const id = `${from}>${to}`;
  edges.set(id, { id, from, to, kind: 'registered', calls_per_minute: null, error_rate: null });
}

function functionNode(id: string): FlowNode {
  return { ...nodeOf('function', id), namespace: namespaceOf(id), internal: namespaceOf(id) === 'engine' };
}

function nodeOf(kind: FlowNode['kind'], name: string, label = name): FlowNode {
  return {
    id: `${kind}:${name}`,
    kind,
    label,
    namespace: null,
    worker: null,
    trigger_type: null,
    method: null,
    status: 'ok',
    internal: false,
  };
}

function labelOf(type: string, config: Readonly<Record<string, unknown>>, summary: string): string {
  const { http_method: method = 'GET', api_path: path, expression, topic, name } = config;
  if (type === 'http' && typeof path === 'string') return `${method} ${path.startsWith('/') ? path : `/${path}`}`;
  const word = expression ?? topic ?? name;
  if (typeof word === 'string') return word;
  const watched = config.key ?? config.scope ?? config.item_id ?? config.stream_name ?? config.level;
  return `${type} ${typeof watched === 'string' ? watched : summary}`;
}

function objectOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : {};
}
