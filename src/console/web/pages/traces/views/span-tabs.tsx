// The tabs of a span that are lists: its events and logs, its errors, its links.

import { Link } from '@tanstack/react-router';
import { Fragment, type ReactNode } from 'react';
import type { LogRow } from '../../../../api/telemetry.ts';
import { formatDuration } from '../../../kit/charts/times.ts';
import { CopyId } from '../../../kit/inputs/copy.tsx';
import { visibleText } from '../../../kit/json/logic/visible-text.ts';
import { keyed, LogText, Severity } from '../../logs/log-text.tsx';
import { causeChain } from '../logic/stack-fold.ts';
import type { Span, SpanError } from '../logic/trace-span.ts';
import { AttributeList } from './attribute-list.tsx';
import { Stack } from './stack.tsx';

interface Moment {
  readonly at: number;
  readonly key: string;
  readonly content: ReactNode;
}

/** Events of the span and its log records, in time order. */
export function SpanLogs({
  span,
  logs,
  startUnixNano,
}: {
  readonly span: Span;
  readonly logs: readonly LogRow[];
  readonly startUnixNano: number;
}): ReactNode {
  const moments: Moment[] = [
    ...keyed(span.events).map(({ key, item: event }) => ({
      at: event.timestamp_unix_nano,
      key: `event ${key}`,
      content: (
        <details>
          <summary className="break-words">
            <span className="rounded-sm bg-raised px-1 text-xs text-muted">event</span> {visibleText(event.name)}
          </summary>
          <AttributeList pairs={event.attributes} empty="The event has no attributes." actions={undefined} />
        </details>
      ),
    })),
    ...logs.map((log) => ({
      at: log.timestamp_unix_nano,
      key: `log ${log.id}`,
      content: (
        <div className="min-w-0">
          <Severity text={log.severity_text} /> <LogText text={log.body} isWrapped markedWords={[]} />
        </div>
      ),
    })),
  ].sort((a, b) => a.at - b.at);
  if (moments.length === 0) {
    return (
      <p className="text-muted">
        Neither events nor logs of this span are stored. The SDK's logger ties its records to the span they come from.
      </p>
    );
  }
  return (
    <>
      <ol className="flex flex-col gap-2">
        {moments.map(({ at, key, content }) => (
          <li key={key} className="grid grid-cols-[72px_minmax(0,1fr)] gap-2">
            <span className="text-right text-sm text-faint">
              {formatDuration(Math.max(0, (at - startUnixNano) / 1e6))}
            </span>
            {content}
          </li>
        ))}
      </ol>
      <p className="mt-3 text-sm">
        <Link to="/logs" search={{ trace: span.trace_id }} className="text-accent hover:underline">
          All logs of this trace
        </Link>
      </p>
    </>
  );
}

export function SpanErrors({ errors }: { readonly errors: readonly SpanError[] }): ReactNode {
  if (errors.length === 0) return <p className="text-muted">This span did not fail.</p>;
  return (
    <ol className="flex flex-col gap-4">
      {keyed(errors).map(({ key, item: error }) => (
        <li key={key} className="flex flex-col gap-2">
          <p className="break-words whitespace-pre-wrap">
            {error.type !== '' && <span className="font-mono text-sm text-bad">{visibleText(error.type)}: </span>}
            {visibleText(error.message)}
          </p>
          <Causes stack={error.stack} />
          {error.stack !== '' && <Stack text={error.stack} />}
        </li>
      ))}
    </ol>
  );
}

function Causes({ stack }: { readonly stack: string }): ReactNode {
  const causes = causeChain(stack);
  if (causes.length === 0) return undefined;
  return (
    <ol className="border-l-2 border-line pl-3 text-sm" aria-label="Caused by">
      {causes.map((cause) => (
        <li key={cause}>
          <span className="text-faint">caused by</span> {visibleText(cause)}
        </li>
      ))}
    </ol>
  );
}

export function SpanLinks({ links }: { readonly links: Span['links'] }): ReactNode {
  if (links.length === 0) return <p className="text-muted">This span links to no other trace.</p>;
  return (
    <dl className="grid grid-cols-[auto_minmax(0,1fr)] gap-x-4 gap-y-1.5">
      {links.map((link) => (
        <Fragment key={`${link.trace_id} ${link.span_id}`}>
          <dt className="text-muted">Trace</dt>
          <dd>
            <CopyId
              id={link.trace_id}
              what="trace id"
              to={`/traces/${link.trace_id}`}
              search={{ span: link.span_id }}
            />
          </dd>
          <dt className="text-muted">Span</dt>
          <dd className="mb-2">
            <CopyId id={link.span_id} what="span id" />
          </dd>
        </Fragment>
      ))}
    </dl>
  );
}
