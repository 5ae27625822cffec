// Traces of a running engine, read with its functions.

import type { SpanRecord } from '../../../src/core/telemetry/records/records.ts';
import type { RawWorker } from '../clients/raw-worker.ts';
import { waitFor } from '../wait-for.ts';
import { ask } from './observability-engine.ts';

export interface TreeSpan extends SpanRecord {
  readonly children: readonly TreeSpan[];
}

/** The tree of a trace as indented lines of names; waits until all given names are there and none is pending. */
export async function treeOf(worker: RawWorker, traceId: string, spans: number): Promise<string[]> {
  let lines: string[] = [];
  await waitFor(`a trace of ${spans} spans`, async () => {
    const roots = await rootsOf(worker, traceId);
    lines = roots.flatMap((root) => linesOf(root, ''));
    return lines.length >= spans && !roots.some(isPending);
  });
  return lines;
}

export async function rootsOf(worker: RawWorker, traceId: string): Promise<readonly TreeSpan[]> {
  const { roots } = await ask(worker, 'engine::traces::tree', { trace_id: traceId });
  return roots as TreeSpan[];
}

/** All spans of the trace, parents first. */
export async function spansOf(worker: RawWorker, traceId: string): Promise<readonly TreeSpan[]> {
  const all = (span: TreeSpan): TreeSpan[] => [span, ...span.children.flatMap(all)];
  return (await rootsOf(worker, traceId)).flatMap(all);
}

export function attributeOf({ attributes }: SpanRecord, key: string): string | undefined {
  return attributes.find(([found]) => found === key)?.[1];
}

function linesOf(span: TreeSpan, indent: string): string[] {
  return [`${indent}${span.name}`, ...span.children.flatMap((child) => linesOf(child, `${indent}  `))];
}

function isPending(span: TreeSpan): boolean {
  return span.pending === true || span.children.some(isPending);
}
