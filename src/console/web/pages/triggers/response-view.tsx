// The response to a request: status, headers, body, time and size, and its trace (TRG-3).

import type { ReactNode } from 'react';
import type { HttpResponse } from '../../../../console-api/console-server.ts';
import { formatBytes, formatDuration } from '../../kit/charts/times.ts';
import { Status } from '../../kit/feedback/status.tsx';
import { JsonTree } from '../../kit/json/json-tree.tsx';
import { visibleText } from '../../kit/json/logic/visible-text.ts';
import { TraceLink } from './firings.tsx';

export function ResponseView({ response }: { readonly response: HttpResponse & { readonly traceId: string } }) {
  const { status, status_text: word, headers, bytes, duration_ms: durationMs, traceId } = response;
  const tone = status >= 500 ? 'bad' : status >= 400 ? 'warn' : 'good';
  return (
    <section aria-label="Response" className="flex flex-col gap-2">
      <div role="status" className="flex flex-wrap items-center gap-x-3 gap-y-1 text-sm text-muted">
        <Status tone={tone} word={`${status} ${visibleText(word)}`} />
        <span>{formatDuration(durationMs)}</span>
        <span>{formatBytes(bytes)}</span>
        <TraceLink id={traceId} />
      </div>
      <Body response={response} />
      <details>
        <summary className="text-sm text-muted">{headers.length} headers</summary>
        <dl className="mt-1 grid grid-cols-[auto_minmax(0,1fr)] gap-x-3 font-mono text-sm">
          {headers.map(([name, value], at) => (
            <div key={HEADER_KEYS[at] ?? name} className="contents">
              <dt className="text-muted">{visibleText(name)}</dt>
              <dd className="break-all">{visibleText(value)}</dd>
            </div>
          ))}
        </dl>
      </details>
    </section>
  );
}

/** One name may occur several times. */
const HEADER_KEYS = Array.from({ length: 256 }, (_none, at) => `header-${at}`);

function Body({ response }: { readonly response: HttpResponse }): ReactNode {
  const { body, bytes, is_text: isText, is_cut: isCut } = response;
  if (bytes === 0) return <p className="text-muted">The body is empty.</p>;
  if (!isText) return <p className="text-muted">The body is not text: {formatBytes(bytes)}.</p>;
  return (
    <>
      <JsonTree label="response" text={body} />
      {isCut && <p className="text-warn">Only the beginning: the body has {formatBytes(bytes)}.</p>}
    </>
  );
}
