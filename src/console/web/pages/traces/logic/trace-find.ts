// Find in trace (TRC-8): name, service, attribute, id and log text of every span, open or closed. Plain text, ignoring
// case; `key=value` searches an attribute.

import { spanWords } from './span-words.ts';
import type { Span } from './trace-span.ts';

export interface SpanLogText {
  readonly spanId: string;
  readonly text: string;
}

/** 1 for each row that matches. Rows for unknown parents are found by the id of the parent. */
export function findInTrace(
  spans: readonly (Span | null)[],
  ids: readonly string[],
  logs: readonly SpanLogText[],
  query: string,
  /** The row's id, by the id of a span that it took in. */
  mergedInto: ReadonlyMap<string, string> = new Map(),
): Uint8Array {
  const found = new Uint8Array(spans.length);
  const text = query.trim().toLowerCase();
  if (text === '') return found;
  const spansWithLog = new Set(logs.filter((log) => log.text.toLowerCase().includes(text)).map((log) => log.spanId));
  for (const [handler, row] of mergedInto) if (handler.includes(text)) spansWithLog.add(row);
  const pair = /^([^\s=]+)=(.*)$/s.exec(text);
  spans.forEach((span, row) => {
    const id = ids[row] ?? '';
    const isFound =
      id.toLowerCase().includes(text) ||
      spansWithLog.has(id) ||
      (span !== null && (hasText(span, text) || (pair !== null && hasAttribute(span, pair[1] ?? '', pair[2] ?? ''))));
    if (isFound) found[row] = 1;
  });
  return found;
}

function hasText(span: Span, text: string): boolean {
  return (
    span.name.toLowerCase().includes(text) ||
    spanWords(span.name, false).toLowerCase().includes(text) ||
    span.service_name.toLowerCase().includes(text) ||
    (span.status_description?.toLowerCase().includes(text) ?? false) ||
    span.attributes.some(([key, value]) => key.toLowerCase().includes(text) || value.toLowerCase().includes(text)) ||
    span.events.some(
      (event) =>
        event.name.toLowerCase().includes(text) ||
        event.attributes.some(([, value]) => value.toLowerCase().includes(text)),
    )
  );
}

function hasAttribute(span: Span, key: string, value: string): boolean {
  return span.attributes.some(([name, text]) => name.toLowerCase() === key && text.toLowerCase() === value);
}

/** The row of the next match after `from` (or before it), wrapping around; `undefined` when there is none. */
export function nextMatch(found: Uint8Array, from: number, step: 1 | -1): number | undefined {
  for (let tried = 1; tried <= found.length; tried += 1) {
    const row = (((from + step * tried) % found.length) + found.length) % found.length;
    if (found[row] === 1) return row;
  }
  return undefined;
}
