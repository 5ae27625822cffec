// A cron trigger: its expression in words, its next runs, and a button to run it now (TRG-4).

import { useQuery } from '@tanstack/react-query';
import { Zap } from 'lucide-react';
import type { ReactNode } from 'react';
import { useKeys } from '../../app/keys.ts';
import { call } from '../../data/api.ts';
import { Time, useNow } from '../../kit/charts/time.tsx';
import { formatLocal, formatSpan, formatUtc } from '../../kit/charts/times.ts';
import { ErrorCard } from '../../kit/feedback/error-card.tsx';
import { WordStatus } from '../../kit/feedback/status.tsx';
import { Button } from '../../kit/inputs/button.tsx';
import { visibleText } from '../../kit/json/logic/visible-text.ts';
import { Properties } from '../../kit/layout/page.tsx';
import { TraceLink } from './firings.tsx';
import { type KindPanelProps, Section, useFire } from './kind-panel.tsx';
import { nextRuns } from './logic/cron-runs.ts';
import { configOf, textIn } from './logic/trigger-kinds.ts';

const SHOWN_RUNS = 5;
const SECOND_MS = 1_000;

export function CronPanel({ detail, readOnly, fired }: KindPanelProps): ReactNode {
  const config = configOf(detail.config);
  const expression = textIn(config, 'expression') ?? '';
  const zone = textIn(config, 'timezone') ?? 'UTC';
  const words = useCronWords(expression);
  const fire = useFire(() => call('POST /triggers/{id}/fire', { parts: { id: detail.id }, body: {} }), fired);
  const isBlocked = readOnly || detail.status === 'Inactive';
  useKeys([{ keys: ['r'], name: 'Trigger now', run: () => !isBlocked && fire.start() }]);
  const [last] = detail.firings ?? [];
  return (
    <Section title="Schedule">
      <Properties
        rows={[
          ['Expression', <code key="expression">{visibleText(expression)}</code>],
          ['In words', visibleText(words)],
          ['Time zone', visibleText(zone)],
          [
            'Last run',
            last === undefined ? (
              'none in the stored traces'
            ) : (
              <span key="last" className="flex items-center gap-2">
                <WordStatus word={last.ok ? 'OK' : 'Error'} title={last.error ?? undefined} />
                <Time ms={last.at} />
              </span>
            ),
          ],
        ]}
      />
      <NextRuns expression={expression} zone={zone} />
      {!readOnly && (
        <div className="flex flex-wrap items-center gap-3">
          <Button look="primary" icon={<Zap size={13} />} disabled={isBlocked || fire.isRunning} onClick={fire.start}>
            Trigger now
          </Button>
          {fire.answer !== undefined && (
            <span role="status" className="flex items-center gap-3 text-muted">
              Handed to {visibleText(fire.answer.function_id)}
              {fire.answer.trace_id !== null && <TraceLink id={fire.answer.trace_id} />}
            </span>
          )}
        </div>
      )}
      {fire.error !== undefined && <ErrorCard error={fire.error} what="Firing the trigger" />}
    </Section>
  );
}

function NextRuns({ expression, zone }: { readonly expression: string; readonly zone: string }): ReactNode {
  const nowMs = useNow();
  const next = nextRuns(expression, zone, Math.floor(nowMs / SECOND_MS) * SECOND_MS, SHOWN_RUNS);
  if (!next.ok) return <p className="text-bad">{visibleText(next.reason)}</p>;
  return (
    <table className="w-full text-left text-sm">
      <caption className="sr-only">Next runs</caption>
      <thead className="text-xs text-muted">
        <tr>
          <th className="py-1 font-medium">Next runs, UTC</th>
          <th className="py-1 font-medium">Local</th>
          <th className="py-1 text-right font-medium">In</th>
        </tr>
      </thead>
      <tbody>
        {next.runs.map((ms) => (
          <tr key={ms} className="border-t border-line">
            <td className="py-1 font-mono">{formatUtc(ms)}</td>
            <td className="py-1 font-mono text-muted">{formatLocal(ms)}</td>
            <td className="py-1 text-right whitespace-nowrap text-muted">{formatSpan(Math.max(0, ms - nowMs))}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** The library that writes expressions in words is loaded when it is first needed. */
function useCronWords(expression: string): string {
  const { data } = useQuery({
    queryKey: ['cron words', expression],
    queryFn: () => cronWords(expression),
    staleTime: Number.POSITIVE_INFINITY,
  });
  return data ?? '…';
}

async function cronWords(expression: string): Promise<string> {
  const { default: cronstrue } = await import('cronstrue');
  return cronstrue.toString(expression, { use24HourTimeFormat: true, throwExceptionOnParseError: false });
}
