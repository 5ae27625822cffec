// An HTTP request to the route of a trigger, through its middleware and conditions like a client's request, and the
// response: status, headers, body, time and size, and its trace (TRG-3).

import { ClipboardCopy, Plus, Send, Square, X } from 'lucide-react';
import { type ReactNode, useEffect, useMemo, useRef, useState } from 'react';
import { HTTP_REQUEST_PATH, type HttpRequest, type HttpResponse } from '../../../api/console-server.ts';
import { useKeys } from '../../app/keys.ts';
import { api } from '../../data/api.ts';
import { useDraft } from '../../data/drafts.ts';
import { formatBytes, formatDuration } from '../../kit/charts/times.ts';
import { ErrorCard } from '../../kit/feedback/error-card.tsx';
import { Badge, Status } from '../../kit/feedback/status.tsx';
import { Button, IconButton } from '../../kit/inputs/button.tsx';
import { copyText, useCallEndpoints } from '../../kit/inputs/copy.tsx';
import { Field, Input, Select } from '../../kit/inputs/field.tsx';
import { Menu } from '../../kit/inputs/menu.tsx';
import { JsonInput } from '../../kit/json/json-editor.tsx';
import { JsonTree } from '../../kit/json/json-tree.tsx';
import { jsonProblem } from '../../kit/json/logic/json-source.ts';
import { visibleText } from '../../kit/json/logic/visible-text.ts';
import { TraceLink } from './firings.tsx';
import { type KindPanelProps, Section } from './kind-panel.tsx';
import {
  asFetch,
  asHttpCurl,
  methodOf,
  newTrace,
  parametersIn,
  pathOf,
  requestPath,
  WITH_BODY,
} from './logic/http-routes.ts';

const METHODS = ['GET', 'POST', 'PUT', 'DELETE', 'PATCH'];
const JSON_HEADER: Pair = { id: 0, name: 'content-type', value: 'application/json' };

interface Request {
  readonly method: string;
  readonly path: string;
  readonly params: Readonly<Record<string, string>>;
  readonly query: readonly Pair[];
  readonly headers: readonly Pair[];
}

export function RequestBuilder({ detail, readOnly, fired }: KindPanelProps): ReactNode {
  const [asked, setAsked] = useState<Request>(() => startOf(detail.config));
  const draft = useDraft(`http.${methodOf(detail.config)} ${pathOf(detail.config)}`, '{}');
  const request = useRequest(fired);
  const names = useMemo(() => parametersIn(asked.path), [asked.path]);
  const hasBody = WITH_BODY.includes(asked.method);
  const missing = names.filter((name) => (asked.params[name] ?? '') === '');
  const problem = hasBody && draft.text.trim() !== '' ? jsonProblem(draft.text) : undefined;
  const message = messageOf(asked, hasBody && draft.text.trim() !== '' ? draft.text : undefined);
  const isBlocked = problem !== undefined || missing.length > 0;
  const run = (): void => {
    if (!isBlocked && !readOnly) request.send(message);
  };
  useKeys([
    { keys: ['mod+enter'], name: 'Send the request', inInputs: true, run },
    { keys: ['r'], name: 'Send again', run },
  ]);
  if (readOnly) return undefined;
  const change = (part: Partial<Request>): void => setAsked((now) => ({ ...now, ...part }));
  return (
    <Section title="Request">
      <div className="flex gap-1">
        <Select aria-label="Method" value={asked.method} onChange={(event) => change({ method: event.target.value })}>
          {[...new Set([...METHODS, asked.method])].map((method) => (
            <option key={method}>{method}</option>
          ))}
        </Select>
        <Input
          aria-label="Path"
          className="flex-1 font-mono"
          value={asked.path}
          onChange={(event) => change({ path: event.target.value })}
        />
      </div>
      <PathParameters names={names} values={asked.params} onChange={(params) => change({ params })} />
      <PairList what="Query parameter" pairs={asked.query} onChange={(query) => change({ query })} />
      <PairList what="Header" pairs={asked.headers} onChange={(headers) => change({ headers })} />
      {hasBody && (
        <JsonInput
          label="Body"
          value={draft.text}
          onChange={draft.set}
          onRun={run}
          note={draft.isDraft && <Badge>draft</Badge>}
        />
      )}
      <div className="flex flex-wrap items-center gap-2">
        {request.isRunning ? (
          <Button icon={<Square size={13} />} onClick={request.cancel}>
            Cancel
          </Button>
        ) : (
          <Button look="primary" icon={<Send size={13} />} disabled={isBlocked} onClick={run}>
            Send
          </Button>
        )}
        <CopyRequest message={message} />
        {problem !== undefined && <span className="text-sm text-bad">{problem}</span>}
        {missing.length > 0 && (
          <span className="text-sm text-muted">Give {missing.map((name) => `:${name}`).join(', ')}</span>
        )}
      </div>
      {request.error !== undefined && <ErrorCard error={request.error} what="Sending the request" />}
      {request.response !== undefined && <ResponseView response={request.response} />}
    </Section>
  );
}

interface PathParametersProps {
  readonly names: readonly string[];
  readonly values: Readonly<Record<string, string>>;
  readonly onChange: (values: Readonly<Record<string, string>>) => void;
}

function PathParameters({ names, values, onChange }: PathParametersProps): ReactNode {
  if (names.length === 0) return undefined;
  return (
    <div className="grid grid-cols-2 gap-2">
      {names.map((name) => (
        <Field key={name} label={`:${name}`}>
          {(ids) => (
            <Input
              {...ids}
              className="font-mono"
              value={values[name] ?? ''}
              onChange={(event) => onChange({ ...values, [name]: event.target.value })}
            />
          )}
        </Field>
      ))}
    </div>
  );
}

function CopyRequest({ message }: { readonly message: HttpRequest }): ReactNode {
  const { httpUrl } = useCallEndpoints();
  return (
    <Menu
      trigger={<Button icon={<ClipboardCopy size={14} />}>Copy as</Button>}
      items={[
        { label: 'curl', run: () => void copyText(asHttpCurl(message, httpUrl), 'curl') },
        { label: 'fetch', run: () => void copyText(asFetch(message, httpUrl), 'fetch') },
      ]}
    />
  );
}

function startOf(config: unknown): Request {
  const method = methodOf(config);
  const headers = WITH_BODY.includes(method) ? [JSON_HEADER] : [];
  return { method, path: pathOf(config), params: {}, query: [], headers };
}

function messageOf({ method, path, params, query, headers }: Request, body: string | undefined): HttpRequest {
  return {
    method,
    path: requestPath({ path, params, query: query.map(({ name, value }) => [name, value]) }),
    headers: headers.filter(({ name }) => name !== '').map(({ name, value }) => [name, value]),
    ...(body !== undefined && { body }),
  };
}

interface Pair {
  readonly id: number;
  readonly name: string;
  readonly value: string;
}

interface PairListProps {
  /** The name of one pair: "Query parameter". */
  readonly what: string;
  readonly pairs: readonly Pair[];
  readonly onChange: (pairs: readonly Pair[]) => void;
}

function PairList({ what, pairs, onChange }: PairListProps): ReactNode {
  const change = (id: number, part: Partial<Pair>): void =>
    onChange(pairs.map((pair) => (pair.id === id ? { ...pair, ...part } : pair)));
  const nextId = Math.max(0, ...pairs.map(({ id }) => id)) + 1;
  return (
    <div className="flex flex-col gap-1">
      {pairs.map(({ id, name, value }) => (
        <div key={id} className="flex items-center gap-1">
          <Input
            aria-label={`${what}: name`}
            placeholder="name"
            className="w-36 font-mono"
            value={name}
            onChange={(event) => change(id, { name: event.target.value })}
          />
          <Input
            aria-label={`${what}: value`}
            placeholder="value"
            className="flex-1 font-mono"
            value={value}
            onChange={(event) => change(id, { value: event.target.value })}
          />
          <IconButton
            label={`Remove ${what.toLowerCase()} ${name}`}
            onClick={() => onChange(pairs.filter((pair) => pair.id !== id))}
          >
            <X size={13} />
          </IconButton>
        </div>
      ))}
      <Button
        look="ghost"
        className="self-start"
        icon={<Plus size={13} />}
        onClick={() => onChange([...pairs, { id: nextId, name: '', value: '' }])}
      >
        {what}
      </Button>
    </div>
  );
}

export interface RequestState {
  readonly response: (HttpResponse & { readonly traceId: string }) | undefined;
  readonly error: unknown;
  readonly isRunning: boolean;
  readonly send: (request: HttpRequest) => void;
  readonly cancel: () => void;
}

type Shown = Pick<RequestState, 'response' | 'error' | 'isRunning'>;

function useRequest(done: () => void): RequestState {
  const [shown, setShown] = useState<Shown>({ response: undefined, error: undefined, isRunning: false });
  const abort = useRef<AbortController>(undefined);
  useEffect(() => () => abort.current?.abort(), []);
  const send = (request: HttpRequest): void => {
    if (shown.isRunning) return;
    const controller = new AbortController();
    abort.current = controller;
    const own = request.headers.find(([name]) => name.toLowerCase() === 'traceparent');
    const trace = newTrace((bytes) => crypto.getRandomValues(bytes));
    const headers: HttpRequest['headers'] = own ? request.headers : [...request.headers, ['traceparent', trace.header]];
    setShown((now) => ({ ...now, isRunning: true }));
    const text = JSON.stringify({ ...request, headers } satisfies HttpRequest);
    const path = HTTP_REQUEST_PATH.replace(/^\/api/, '');
    api<HttpResponse>(path, { method: 'POST', text, signal: controller.signal }).then(
      (response) => {
        const traceId = own?.[1].split('-')[1] ?? trace.id;
        setShown({ response: { ...response, traceId }, error: undefined, isRunning: false });
        done();
      },
      (error: unknown) => {
        if (controller.signal.aborted) setShown((now) => ({ ...now, isRunning: false }));
        else setShown({ response: undefined, error, isRunning: false });
      },
    );
  };
  return { ...shown, send, cancel: () => abort.current?.abort() };
}

function ResponseView({ response }: { readonly response: HttpResponse & { readonly traceId: string } }) {
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
