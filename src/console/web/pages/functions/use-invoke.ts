// One call of a function at a time: sent, awaited, cancelled, remembered (FUN-4, FUN-5).

import { useEffect, useRef, useState } from 'react';
import { INVOKE_HEADERS } from '../../../../console-api/envelope.ts';
import { type ApiAnswer, ApiError, apiText } from '../../data/api.ts';
import { type CopiedCall, invokeText } from '../../kit/inputs/call-text.ts';
import { type Invocation, measuredMs, pastInvocations, rememberInvocation, traceOf } from './invocations.ts';

export interface InvokeState {
  readonly running: { readonly sinceMs: number } | undefined;
  readonly last: Invocation | undefined;
  /** Of the last call, while it is recent. */
  readonly error: unknown;
  readonly history: readonly Invocation[];
  readonly start: (call: CopiedCall) => void;
  readonly cancel: () => void;
}

export function useInvoke(functionId: string): InvokeState {
  const [running, setRunning] = useState<{ sinceMs: number }>();
  const [last, setLast] = useState<Invocation>();
  const [error, setError] = useState<unknown>();
  const [history, setHistory] = useState(() => pastInvocations(functionId));
  const abort = useRef<AbortController>(undefined);
  useEffect(() => () => abort.current?.abort(), []);
  const start = (call: CopiedCall): void => {
    if (running !== undefined) return;
    const controller = new AbortController();
    abort.current = controller;
    const startedAt = performance.now();
    setRunning({ sinceMs: Date.now() });
    setError(undefined);
    const settle = (invocation: Invocation, thrown: unknown): void => {
      setRunning(undefined);
      setLast(invocation);
      setError(thrown);
      setHistory(rememberInvocation(functionId, invocation));
    };
    apiText('/invoke', { method: 'POST', text: invokeText(call), signal: controller.signal }).then(
      (answer) => settle(answered(call, answer, performance.now() - startedAt), undefined),
      (thrown: unknown) => {
        if (controller.signal.aborted) setRunning(undefined);
        else settle(failed(call, thrown, performance.now() - startedAt), thrown);
      },
    );
  };
  return { running, last, error, history, start, cancel: () => abort.current?.abort() };
}

function answered(call: CopiedCall, { text, headers }: ApiAnswer, tookMs: number): Invocation {
  return {
    atMs: Date.now(),
    mode: call.mode,
    input: call.payloadText,
    output: text,
    ok: true,
    durationMs: measuredMs(headers, tookMs),
    bytes: new Blob([text]).size,
    worker: decodeURIComponent(headers.get(INVOKE_HEADERS.worker) ?? '') || undefined,
    traceId: traceOf(headers),
  };
}

function failed(call: CopiedCall, thrown: unknown, tookMs: number): Invocation {
  const text = thrown instanceof ApiError ? thrown.exchange.responseText : JSON.stringify(String(thrown));
  return {
    atMs: Date.now(),
    mode: call.mode,
    input: call.payloadText,
    output: text,
    ok: false,
    durationMs: tookMs,
    bytes: new Blob([text]).size,
    worker: undefined,
    traceId: thrown instanceof ApiError ? thrown.traceId : undefined,
  };
}
