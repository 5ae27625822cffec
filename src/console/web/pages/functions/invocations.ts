// One call of a function at a time: sent, awaited, cancelled (FUN-4, FUN-5). The last fifty calls of each function are
// stored, only in this browser (FUN-7).

import { useEffect, useRef, useState } from 'react';
import { INVOKE_HEADERS } from '../../../api/envelope.ts';
import { type ApiAnswer, ApiError, apiText } from '../../data/api.ts';
import { keep, readKept } from '../../data/preferences.ts';
import { type CopiedCall, invokeText } from '../../kit/inputs/call-text.ts';

export interface Invocation {
  readonly atMs: number;
  readonly mode: 'wait' | 'void' | 'enqueue';
  readonly input: string;
  /** JSON as received, or the error's JSON; cut where it is long. */
  readonly output: string;
  readonly ok: boolean;
  readonly durationMs: number;
  readonly bytes: number;
  readonly worker: string | undefined;
  readonly traceId: string | undefined;
}

const KEPT = 50;
const KEPT_CHARS = 32_768;

const storageKeyOf = (functionId: string): string => `svc.invocations.${functionId}`;

function pastInvocations(functionId: string): readonly Invocation[] {
  const kept = readKept(storageKeyOf(functionId));
  return Array.isArray(kept) ? kept : [];
}

/** Newest first. A call that is too long to be stored is kept without its texts. */
function rememberInvocation(functionId: string, invocation: Invocation): readonly Invocation[] {
  const isLong = invocation.output.length + invocation.input.length > KEPT_CHARS;
  const kept = isLong ? { ...invocation, output: '"(too long to be kept)"' } : invocation;
  const all = [kept, ...pastInvocations(functionId)].slice(0, KEPT);
  keep(storageKeyOf(functionId), all);
  return all;
}

/** The duration that the engine measured. The way through this page is not part of it. */
export function measuredMs(headers: Headers, tookMs: number): number {
  const measured = Number(headers.get(INVOKE_HEADERS.durationMs) ?? Number.NaN);
  return Number.isFinite(measured) ? measured : tookMs;
}

export function traceOf(headers: Headers): string | undefined {
  return headers.get(INVOKE_HEADERS.traceId) ?? undefined;
}

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
