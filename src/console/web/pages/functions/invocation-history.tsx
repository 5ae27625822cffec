// The calls from this browser: search, run again, edit, and compare two of them (FUN-7).

import { type ReactNode, useState } from 'react';
import { Time } from '../../kit/charts/time.tsx';
import { formatDuration } from '../../kit/charts/times.ts';
import { Shape } from '../../kit/feedback/status.tsx';
import { Button } from '../../kit/inputs/button.tsx';
import { Input } from '../../kit/inputs/field.tsx';
import { JsonDiff } from '../../kit/json/json-editor.tsx';
import { visibleText } from '../../kit/json/logic/visible-text.ts';
import type { Invocation } from './invocations.ts';

interface HistoryProps {
  readonly history: readonly Invocation[];
  readonly edit: (input: string) => void;
  readonly rerun: (input: string) => void;
}

const PREVIEW_CHARS = 120;

export function InvocationHistory({ history, edit, rerun }: HistoryProps): ReactNode {
  const [text, setText] = useState('');
  const [chosen, setChosen] = useState<readonly number[]>([]);
  if (history.length === 0) return undefined;
  const wanted = text.toLowerCase();
  const shown = history.filter(({ input, output }) => `${input}\n${output}`.toLowerCase().includes(wanted));
  const [one, other] = chosen.map((atMs) => history.find((past) => past.atMs === atMs));
  const choose = (atMs: number): void =>
    setChosen((now) => (now.includes(atMs) ? now.filter((past) => past !== atMs) : [...now.slice(-1), atMs]));
  return (
    <section aria-label="History" className="flex flex-col gap-2 border-t border-line pt-3">
      <div className="flex items-center gap-2">
        <h3 className="flex-1 text-sm font-semibold text-muted">Calls from this browser</h3>
        <Input
          aria-label="Search the history"
          placeholder="Search…"
          className="h-6 w-36 text-sm"
          value={text}
          onChange={(event) => setText(event.target.value)}
        />
      </div>
      {one !== undefined && other !== undefined && (
        <JsonDiff label="Difference of the two results" before={one.output} after={other.output} />
      )}
      <ul className="flex max-h-72 flex-col overflow-y-auto">
        {shown.map((past) => (
          <li key={past.atMs} className="flex items-center gap-2 border-b border-line py-1 text-sm">
            <input
              type="checkbox"
              aria-label="Compare this result"
              checked={chosen.includes(past.atMs)}
              onChange={() => choose(past.atMs)}
              className="accent-(--accent-fill)"
            />
            <Shape tone={past.ok ? 'good' : 'bad'} />
            <span className="sr-only">{past.ok ? 'OK' : 'Error'}</span>
            <Time ms={past.atMs} className="w-20 shrink-0 truncate text-muted" />
            <span className="w-16 shrink-0 text-right text-muted">{formatDuration(past.durationMs)}</span>
            <code className="min-w-0 flex-1 truncate">{visibleText(past.input.slice(0, PREVIEW_CHARS))}</code>
            <Button look="ghost" className="h-6" onClick={() => edit(past.input)}>
              Edit
            </Button>
            <Button look="ghost" className="h-6" onClick={() => rerun(past.input)}>
              Run again
            </Button>
          </li>
        ))}
        {shown.length === 0 && <li className="py-2 text-muted">No call contains that text.</li>}
      </ul>
    </section>
  );
}
