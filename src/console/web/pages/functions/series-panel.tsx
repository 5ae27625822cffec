// Many calls of one function, a fixed number at a time, until all are answered or the user stops them: the progress,
// the durations, and the failures (FUN-9).

import { Link } from '@tanstack/react-router';
import { Play, Square } from 'lucide-react';
import { type ReactNode, useEffect, useRef, useState } from 'react';
import { ApiError, apiText } from '../../data/api.ts';
import { beforeNextPaint } from '../../data/live.ts';
import { formatCount, formatDuration } from '../../kit/charts/times.ts';
import { Announce } from '../../kit/feedback/live-changes.tsx';
import { Shape } from '../../kit/feedback/status.tsx';
import { ProgressBar } from '../../kit/feedback/task-progress.tsx';
import { Button } from '../../kit/inputs/button.tsx';
import { type CopiedCall, invokeText } from '../../kit/inputs/call-text.ts';
import { Field, Input } from '../../kit/inputs/field.tsx';
import { visibleText } from '../../kit/json/logic/visible-text.ts';
import {
  AT_ONCE_MAX,
  type CallOutcome,
  countIn,
  failuresOf,
  type LatencyBar,
  latenciesOf,
  SERIES_CALLS_MAX,
} from './call-series.ts';
import { measuredMs, traceOf } from './invocations.ts';

interface SeriesPanelProps {
  readonly call: CopiedCall;
  /** The call cannot be made with the current input. */
  readonly blocked: boolean;
}

export function SeriesPanel({ call, blocked }: SeriesPanelProps): ReactNode {
  const { series, start, cancel } = useSeries();
  const [times, setTimes] = useState('100');
  const [atOnce, setAtOnce] = useState('4');
  const total = countIn(times, SERIES_CALLS_MAX);
  const width = countIn(atOnce, AT_ONCE_MAX);
  return (
    <details className="border-t border-line pt-3">
      <summary className="text-sm font-semibold text-muted">Invoke many times</summary>
      <div className="flex flex-col gap-3 pt-2">
        <div className="flex flex-wrap items-start gap-2">
          <CountField label="Times" value={times} max={SERIES_CALLS_MAX} isBad={total === undefined} set={setTimes} />
          <CountField label="At a time" value={atOnce} max={AT_ONCE_MAX} isBad={width === undefined} set={setAtOnce} />
          <span className="mt-5">
            {series?.isRunning === true ? (
              <Button icon={<Square size={13} />} onClick={cancel}>
                Stop
              </Button>
            ) : (
              <Button
                icon={<Play size={13} />}
                disabled={blocked || total === undefined || width === undefined}
                onClick={() => start(call, total ?? 1, width ?? 1)}
              >
                Invoke {total === undefined ? '' : `${formatCount(total)} ×`}
              </Button>
            )}
          </span>
        </div>
        {series !== undefined && <SeriesResult series={series} />}
      </div>
    </details>
  );
}

interface CountFieldProps {
  readonly label: string;
  readonly value: string;
  readonly max: number;
  readonly isBad: boolean;
  readonly set: (text: string) => void;
}

function CountField({ label, value, max, isBad, set }: CountFieldProps): ReactNode {
  return (
    <Field label={label} hint={`1 to ${formatCount(max)}`} className="w-24">
      {(ids) => (
        <Input
          {...ids}
          inputMode="numeric"
          aria-invalid={isBad}
          value={value}
          onChange={(event) => set(event.target.value)}
        />
      )}
    </Field>
  );
}

function SeriesResult({ series }: { readonly series: Series }): ReactNode {
  const { outcomes, total, isRunning } = series;
  const failures = failuresOf(outcomes);
  const latencies = latenciesOf(outcomes);
  const failed = failures.reduce((sum, { count }) => sum + count, 0);
  const words =
    `${formatCount(outcomes.length)} of ${formatCount(total)} called, ${formatCount(failed)} failed` +
    (isRunning || outcomes.length === total ? '' : ', stopped');
  return (
    <section aria-label="Result of the calls" className="flex flex-col gap-3">
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1 text-sm text-muted">
        <ProgressBar label="Calls made" share={outcomes.length / total} />
        <span className="tabular-nums">{words}</span>
        {!isRunning && <Announce text={words} />}
      </div>
      {latencies !== undefined && (
        <>
          <p className="text-sm">
            p50 {formatDuration(latencies.p50Ms)} · p95 {formatDuration(latencies.p95Ms)} · slowest{' '}
            {formatDuration(latencies.maxMs)}
          </p>
          <Histogram bars={latencies.bars} />
        </>
      )}
      {failures.length > 0 && (
        <ul aria-label="Failures" className="flex max-h-72 flex-col overflow-y-auto">
          {failures.map(({ problem, count, traceIds }) => (
            <li key={problem} className="flex items-start gap-2 border-b border-line py-1 text-sm">
              <span className="mt-1">
                <Shape tone="bad" />
              </span>
              <span className="min-w-0 flex-1 break-words">{visibleText(problem)}</span>
              {traceIds.map((id, at) => (
                <Link key={id} to={`/traces/${id}`} className="text-accent hover:underline">
                  <span className="sr-only">Trace </span>
                  {at + 1}
                </Link>
              ))}
              <span className="w-16 shrink-0 text-right tabular-nums">{formatCount(count)} ×</span>
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}

function Histogram({ bars }: { readonly bars: readonly LatencyBar[] }): ReactNode {
  const most = bars.reduce((max, { count }) => Math.max(max, count), 1);
  return (
    <table aria-label="Calls by duration" className="w-full text-sm">
      <tbody>
        {bars.map(({ fromMs, toMs, count }) => (
          <tr key={fromMs}>
            <th scope="row" className="w-36 pr-3 text-right font-normal whitespace-nowrap text-muted">
              {fromMs === 0 ? 'under' : `${formatDuration(fromMs)} to`} {formatDuration(toMs)}
            </th>
            <td>
              <span className="block h-2.5 rounded-sm bg-accent-fill" style={{ width: `${(count / most) * 100}%` }} />
            </td>
            <td className="w-14 text-right tabular-nums">{formatCount(count)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

interface Series {
  readonly total: number;
  readonly outcomes: readonly CallOutcome[];
  readonly isRunning: boolean;
}

export interface SeriesState {
  readonly series: Series | undefined;
  readonly start: (call: CopiedCall, total: number, atOnce: number) => void;
  readonly cancel: () => void;
}

function useSeries(): SeriesState {
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
