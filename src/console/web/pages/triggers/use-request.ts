// One request at a time through the console server, and its response (TRG-3).

import { useEffect, useRef, useState } from 'react';
import { HTTP_REQUEST_PATH, type HttpRequest, type HttpResponse } from '../../../../console-api/console-server.ts';
import { api } from '../../data/api.ts';
import { newTrace } from './logic/http-message.ts';

export interface RequestState {
  readonly response: (HttpResponse & { readonly traceId: string }) | undefined;
  readonly error: unknown;
  readonly isRunning: boolean;
  readonly send: (request: HttpRequest) => void;
  readonly cancel: () => void;
}

type Shown = Pick<RequestState, 'response' | 'error' | 'isRunning'>;

export function useRequest(done: () => void): RequestState {
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
