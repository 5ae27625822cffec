// The spans of each service of a trace (TRC-13), and the calls between services (TRC-14).

import { percentile } from '../../../../../core/telemetry/spans/trace-groups.ts';
import { type CriticalPath, pathByService } from './critical-path.ts';
import { FLAG, type TraceColumns } from './trace-columns.ts';

export interface ServiceFigures {
  readonly service: string;
  readonly spanCount: number;
  readonly errorCount: number;
  readonly averageMs: number;
  readonly selfMs: number;
  /** Share of the critical path, 0 to 1. */
  readonly pathShare: number;
}

export function serviceBreakdown(columns: TraceColumns, path: CriticalPath): ServiceFigures[] {
  const figures = columns.services.map((service) => ({ service, spanCount: 0, errorCount: 0, totalMs: 0, selfMs: 0 }));
  for (let row = 0; row < columns.count; row += 1) {
    const figure = figures[columns.serviceOf[row] ?? 0];
    if (figure === undefined || ((columns.flags[row] ?? 0) & FLAG.unknownParent) !== 0) continue;
    figure.spanCount += 1;
    if (((columns.flags[row] ?? 0) & FLAG.error) !== 0) figure.errorCount += 1;
    figure.totalMs += (columns.endMs[row] ?? 0) - (columns.startMs[row] ?? 0);
    figure.selfMs += columns.selfMs[row] ?? 0;
  }
  const shares = pathByService(columns, path);
  const pathMs = shares.reduce((total, share) => total + share.totalMs, 0);
  const shareOf = new Map(shares.map((share) => [share.service, pathMs === 0 ? 0 : share.totalMs / pathMs]));
  return figures
    .filter((figure) => figure.spanCount > 0)
    .map(({ totalMs, ...figure }) => ({
      ...figure,
      averageMs: totalMs / figure.spanCount,
      pathShare: shareOf.get(figure.service) ?? 0,
    }))
    .sort((a, b) => b.selfMs - a.selfMs || (a.service < b.service ? -1 : 1));
}

export interface MapNode {
  /** `service` or `service` and operation. */
  readonly id: string;
  readonly service: string;
  readonly name: string;
  readonly spanCount: number;
  readonly errorCount: number;
  readonly selfMs: number;
}

export interface MapEdge {
  readonly from: string;
  readonly to: string;
  readonly count: number;
  readonly errorCount: number;
  readonly p95Ms: number;
  /** Calls that lead back to their origin, directly or through others. */
  readonly isLoop: boolean;
}

export interface TraceMap {
  readonly nodes: readonly MapNode[];
  readonly edges: readonly MapEdge[];
}

/**
 * By service alone, or by the operations of a service. Calls within a node are an edge only when they name the node
 * again.
 */
export function traceMap(columns: TraceColumns, by: 'service' | 'function'): TraceMap {
  const nodes = new Map<string, { -readonly [K in keyof MapNode]: MapNode[K] }>();
  const lengths = new Map<string, { from: string; to: string; ms: number[]; errorCount: number }>();
  const ids: string[] = [];
  for (let row = 0; row < columns.count; row += 1) {
    const service = columns.services[columns.serviceOf[row] ?? 0] ?? '';
    const name = by === 'service' ? service : (columns.names[columns.nameOf[row] ?? 0] ?? '');
    const id = by === 'service' ? service : `${service} ${name}`;
    const isError = ((columns.flags[row] ?? 0) & FLAG.error) !== 0;
    ids.push(id);
    const node = nodes.get(id) ?? { id, service, name, spanCount: 0, errorCount: 0, selfMs: 0 };
    node.spanCount += 1;
    node.errorCount += isError ? 1 : 0;
    node.selfMs += columns.selfMs[row] ?? 0;
    nodes.set(id, node);
    const from = ids[columns.parent[row] ?? -1];
    if (from === undefined || (by === 'service' && from === id)) continue;
    const key = JSON.stringify([from, id]);
    const edge = lengths.get(key) ?? { from, to: id, ms: [], errorCount: 0 };
    edge.ms.push((columns.endMs[row] ?? 0) - (columns.startMs[row] ?? 0));
    edge.errorCount += isError ? 1 : 0;
    lengths.set(key, edge);
  }
  const componentOf = ringsOf([...nodes.keys()], [...lengths.values()]);
  const edges = [...lengths.values()].map(({ from, to, ms, errorCount }) => ({
    from,
    to,
    count: ms.length,
    errorCount,
    p95Ms: percentile(
      ms.sort((a, b) => a - b),
      0.95,
    ),
    // Services call each other back and forth as a rule: that is no loop of calls.
    isLoop: by === 'function' && (from === to || componentOf.get(from) === componentOf.get(to)),
  }));
  return { nodes: [...nodes.values()], edges };
}

/** Nodes that can reach each other get the same number (Tarjan, without recursion: chains of calls may be long). */
function ringsOf(ids: readonly string[], edges: readonly { from: string; to: string }[]): Map<string, number> {
  const next = new Map<string, string[]>(ids.map((id) => [id, []]));
  for (const edge of edges) next.get(edge.from)?.push(edge.to);
  const index = new Map<string, number>();
  const low = new Map<string, number>();
  const component = new Map<string, number>();
  const open: string[] = [];
  for (const start of ids) {
    if (index.has(start)) continue;
    const stack = [{ id: start, at: 0 }];
    for (let top = stack.at(-1); top !== undefined; top = stack.at(-1)) {
      if (top.at === 0) {
        index.set(top.id, index.size);
        low.set(top.id, index.get(top.id) ?? 0);
        open.push(top.id);
      }
      const child = next.get(top.id)?.[top.at];
      top.at += 1;
      if (child !== undefined) {
        if (!index.has(child)) stack.push({ id: child, at: 0 });
        else if (!component.has(child)) low.set(top.id, Math.min(low.get(top.id) ?? 0, index.get(child) ?? 0));
        continue;
      }
      stack.pop();
      const above = stack.at(-1);
      if (above !== undefined) low.set(above.id, Math.min(low.get(above.id) ?? 0, low.get(top.id) ?? 0));
      if (low.get(top.id) !== index.get(top.id)) continue;
      const number = index.get(top.id) ?? 0;
      for (let member = open.pop(); member !== undefined; member = open.pop()) {
        component.set(member, number);
        if (member === top.id) break;
      }
    }
  }
  return component;
}
