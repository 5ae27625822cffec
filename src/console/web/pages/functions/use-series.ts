// Many calls of one function, a fixed number at a time, until all are answered or the user stops them (FUN-9).

import { useEffect, useRef, useState } from 'react';
import { ApiError, apiText } from '../../data/api.ts';
import { beforeNextPaint } from '../../data/live.ts';
import { type CopiedCall, invokeText } from '../../kit/inputs/call-text.ts';
import { measuredMs, traceOf } from './invocations.ts';
import type { CallOutcome } from './logic/call-series.ts';

export interface Series {
  readonly total: number;
  readonly outcomes: readonly CallOutcome[];
  readonly isRunning: boolean;
}

export interface SeriesState {
  readonly series: Series | undefined;
  readonly start: (call: CopiedCall, total: number, atOnce: number) => void;
  readonly cancel: () => void;
}

export function useSeries(): SeriesState {
  const [series, setSeries] = useState<Series>();
  const abort = useRef<AbortController>(undefined);
  useEffect(() => () => abort.current?.abort(), []);
  const start = (call: CopiedCall, total: number, atOnce: number): void => {
    abort.current?.abort();
    const controller = new AbortController();
    abort.current = controller;
    const outcomes: CallOutcome[] = [];
    const show = (isRunning: boolean): void => {
      if (abort.current === controller) setSeries({ total, outcomes: [...outcomes], isRunning });
    };
    show(true);
    const text = invokeText(call);
    let begun = 0;
    const callOn = async (): Promise<void> => {
      while (begun < total && !controller.signal.aborted) {
        begun += 1;
        const outcome = await callOnce(text, controller.signal);
        if (outcome === undefined) return;
        outcomes.push(outcome);
        beforeNextPaint(shown);
      }
    };
    let isRunning = true;
    const shown = (): void => show(isRunning);
    void Promise.all(Array.from({ length: Math.min(atOnce, total) }, callOn)).then(() => {
      isRunning = false;
      shown();
    });
  };
  return { series, start, cancel: () => abort.current?.abort() };
}

/** Undefined for a call that was cancelled. */
async function callOnce(text: string, signal: AbortSignal): Promise<CallOutcome | undefined> {
  const startedAt = performance.now();
  try {
    const { headers } = await apiText('/invoke', { method: 'POST', text, signal });
    const durationMs = measuredMs(headers, performance.now() - startedAt);
    return { durationMs, problem: undefined, traceId: traceOf(headers) };
  } catch (thrown) {
    if (signal.aborted) return undefined;
    const isKnown = thrown instanceof ApiError;
    return {
      durationMs: performance.now() - startedAt,
      problem: isKnown ? `${thrown.code}: ${thrown.message}` : String(thrown),
      traceId: isKnown ? thrown.traceId : undefined,
    };
  }
}
