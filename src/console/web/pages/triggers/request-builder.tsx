// An HTTP request to the route of a trigger, through its middleware and conditions like a client's request (TRG-3).

import { ClipboardCopy, Send, Square } from 'lucide-react';
import { type ReactNode, useMemo, useState } from 'react';
import type { HttpRequest } from '../../../../console-api/console-server.ts';
import { useKeys } from '../../app/keys.ts';
import { useDraft } from '../../data/drafts.ts';
import { ErrorCard } from '../../kit/feedback/error-card.tsx';
import { Badge } from '../../kit/feedback/status.tsx';
import { Button } from '../../kit/inputs/button.tsx';
import { copyText, useCopyPlaces } from '../../kit/inputs/copy.tsx';
import { Field, Input, Select } from '../../kit/inputs/field.tsx';
import { Menu } from '../../kit/inputs/menu.tsx';
import { JsonInput } from '../../kit/json/json-editor.tsx';
import { jsonProblem } from '../../kit/json/logic/json-source.ts';
import { asFetch, asHttpCurl, WITH_BODY } from './logic/http-message.ts';
import { methodOf, parametersIn, pathOf, requestPath } from './logic/http-routes.ts';
import { type Pair, PairList } from './pair-list.tsx';
import { ResponseView } from './response-view.tsx';
import { type KindPanelProps, Section } from './section.tsx';
import { useRequest } from './use-request.ts';

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
  const { httpUrl } = useCopyPlaces();
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
