// One whole log record: its text, its origin, its attributes, its JSON (LOG-1, LOG-2).

import { Copy } from 'lucide-react';
import type { ReactNode } from 'react';
import type { LogRow } from '../../../api/telemetry.ts';
import type { SearchState } from '../../data/search.ts';
import { Time } from '../../kit/charts/time.tsx';
import { Button } from '../../kit/inputs/button.tsx';
import { CopyId, copyText } from '../../kit/inputs/copy.tsx';
import { Menu } from '../../kit/inputs/menu.tsx';
import { JsonTree } from '../../kit/json/json-tree.tsx';
import { visibleText } from '../../kit/json/logic/visible-text.ts';
import { DetailPanel } from '../../kit/layout/detail-panel.tsx';
import { Properties } from '../../kit/layout/page.tsx';
import { hasStack } from '../traces/logic/stack-fold.ts';
import { Stack } from '../traces/views/stack.tsx';
import { valueText } from './log-row.tsx';
import { LogText, Severity } from './log-text.tsx';
import { quoteTerm, quoteValue } from './logic/log-query.ts';
import { messageKey } from './logic/log-rows.ts';
import { stripAnsi } from './logic/text-pieces.ts';
import type { LOGS_SEARCH } from './logs-search.ts';

export interface LogDetailProps extends SearchState<typeof LOGS_SEARCH> {
  readonly log: LogRow;
  readonly hideLike: (messageKey: string) => void;
}

export function LogDetail({ log, search, setSearch, hideLike }: LogDetailProps): ReactNode {
  const json = JSON.stringify(log, undefined, 2);
  const addTerm = (term: string): void => setSearch({ q: search.q === '' ? term : `${search.q} ${term}` });
  return (
    <DetailPanel
      label="Log record"
      title={
        <span className="flex items-center gap-2">
          <Severity text={log.severity_text} /> <span className="truncate">{visibleText(log.service_name)}</span>
        </span>
      }
      actions={
        <Menu
          trigger={<Button icon={<Copy size={13} />}>Copy</Button>}
          items={[
            { label: 'As text', run: () => void copyText(textLine(log), 'record') },
            { label: 'As JSON', run: () => void copyText(json, 'record') },
            { label: 'Message', run: () => void copyText(log.body, 'message') },
          ]}
        />
      }
      onClose={() => setSearch({ id: undefined })}
    >
      <div className="flex flex-col gap-4 p-3">
        {hasStack(stripAnsi(log.body)) ? (
          <Stack text={stripAnsi(log.body)} />
        ) : (
          <p className="max-h-96 overflow-y-auto">
            <LogText text={log.body} isWrapped markedWords={[]} />
          </p>
        )}
        <Properties rows={propertiesOf(log)} />
        <div className="flex flex-wrap gap-2">
          <Button onClick={() => setSearch({ around: log.id }, { push: true })}>Show 50 before and after</Button>
          <Button onClick={() => hideLike(messageKey(log))}>Hide messages like this</Button>
          <Button onClick={() => addTerm(quoteTerm(firstWords(log.body)))}>Find messages like this</Button>
        </div>
        <Attributes log={log} addTerm={addTerm} {...{ search, setSearch }} />
        <section aria-label="The whole record as JSON">
          <JsonTree label="log record" text={json} depth={1} />
        </section>
      </div>
    </DetailPanel>
  );
}

function propertiesOf(log: LogRow): (readonly [string, ReactNode])[] {
  const nanos = BigInt(Math.round(log.timestamp_unix_nano)).toString();
  return [
    ['Time', <Time key="time" ms={log.timestamp_unix_nano / 1e6} nanos={nanos} />],
    ['Severity', `${log.severity_text} (${log.severity_number})`],
    ...(log.trace_id === null
      ? []
      : [
          [
            'Trace',
            <CopyId
              key="trace"
              id={log.trace_id}
              what="trace id"
              to={`/traces/${log.trace_id}`}
              search={log.span_id === null ? {} : { span: log.span_id }}
            />,
          ] as const,
        ]),
    ...(log.span_id === null ? [] : [['Span', <CopyId key="span" id={log.span_id} what="span id" />] as const]),
    ...(log.instrumentation_scope_name === undefined
      ? []
      : [['Made by', `${log.instrumentation_scope_name} ${log.instrumentation_scope_version ?? ''}`] as const]),
  ];
}

function Attributes({
  log,
  search,
  setSearch,
  addTerm,
}: Omit<LogDetailProps, 'hideLike'> & {
  readonly addTerm: (term: string) => void;
}): ReactNode {
  const entries = Object.entries(log.attributes);
  if (entries.length === 0) return undefined;
  return (
    <section aria-label="Attributes">
      <h3 className="mb-1 text-sm font-medium text-muted">Attributes</h3>
      <dl className="divide-y divide-line">
        {entries.map(([key, value]) => (
          <div key={key} className="grid grid-cols-[minmax(80px,2fr)_minmax(0,3fr)_auto] items-center gap-2 py-0.5">
            <dt className="min-w-0 font-mono text-sm break-words text-muted">{visibleText(key)}</dt>
            <dd className="min-w-0 font-mono text-sm break-words whitespace-pre-wrap">
              {visibleText(valueText(value))}
            </dd>
            <dd>
              <Menu
                trigger={
                  <Button look="ghost" aria-label={`Actions for ${key}`}>
                    ⋯
                  </Button>
                }
                items={[
                  { label: 'Copy value', run: () => void copyText(valueText(value), 'value') },
                  { label: 'Filter by it', run: () => addTerm(`attr.${key}=${quoteValue(valueText(value))}`) },
                  { label: 'Exclude it', run: () => addTerm(`-attr.${key}=${quoteValue(valueText(value))}`) },
                  {
                    label: search.cols.includes(key) ? 'Remove column' : 'Add as column',
                    run: () =>
                      setSearch({
                        cols: search.cols.includes(key)
                          ? search.cols.filter((one) => one !== key)
                          : [...search.cols, key],
                      }),
                  },
                ]}
              />
            </dd>
          </div>
        ))}
      </dl>
    </section>
  );
}

function textLine(log: LogRow): string {
  const time = new Date(log.timestamp_unix_nano / 1e6).toISOString();
  return `${time} ${log.severity_text} ${log.service_name} ${stripAnsi(log.body)}`;
}

/** The part of a message before its first number, which similar messages share. */
function firstWords(body: string): string {
  const text = stripAnsi(body).split('\n')[0] ?? '';
  const words = /^[^\d]{4,}/.exec(text)?.[0] ?? text;
  return words.trim().slice(0, 80);
}
