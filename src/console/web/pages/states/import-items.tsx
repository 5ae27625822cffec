// Import of JSON lines into a scope: first a preview, then the import (STA-6).

import { useQuery } from '@tanstack/react-query';
import { type ReactNode, useMemo, useState } from 'react';
import { refetchSoon } from '../../data/queries.ts';
import { formatCount } from '../../kit/charts/times.ts';
import { ErrorCard } from '../../kit/feedback/error-card.tsx';
import { Button } from '../../kit/inputs/button.tsx';
import { FIELD } from '../../kit/inputs/field.tsx';
import { Sheet } from '../../kit/layout/overlays.tsx';
import { eachOf } from '../queues/logic/each-of.ts';
import { type BadLine, importPlan, readStateLines } from './logic/state-lines.ts';
import { readValues } from './scope-menu.tsx';
import { writeItem } from './values.ts';

const SHOWN = 20;

export function ImportDialog({ scope, onClose }: { readonly scope: string; readonly onClose: () => void }): ReactNode {
  const [text, setText] = useState('');
  const [progress, setProgress] = useState<{ done: number; of: number }>();
  const [error, setError] = useState<unknown>();
  const { entries, bad } = useMemo(() => readStateLines(text), [text]);
  const stored = useQuery({ queryKey: ['import', scope], queryFn: () => readValues(scope), staleTime: 0 });
  const plan = useMemo(() => importPlan(entries, stored.data ?? new Map()), [entries, stored.data]);
  const writes = [...plan.new, ...plan.changed];
  const isReady = stored.data !== undefined && writes.length > 0 && bad.length === 0 && progress === undefined;
  const run = async (): Promise<void> => {
    setProgress({ done: 0, of: writes.length });
    const failures = await eachOf(
      writes,
      ({ key, value }) => writeItem(scope, key, value, undefined),
      (done) => setProgress({ done, of: writes.length }),
    );
    refetchSoon(['states', scope]);
    const [first] = failures;
    if (first === undefined) return onClose();
    setProgress(undefined);
    setError(first);
  };
  return (
    <Sheet title={`Import into ${scope}`} onClose={onClose}>
      <p className="text-muted">
        One <code>{'{"key": …, "value": …}'}</code> per line, as the export writes it.
      </p>
      <input
        type="file"
        aria-label="File with JSON lines"
        accept=".jsonl,.json,.txt"
        className="text-sm"
        onChange={({ target }) => void target.files?.[0]?.text().then(setText)}
      />
      <textarea
        aria-label="JSON lines"
        spellCheck={false}
        value={text}
        onChange={({ target }) => setText(target.value)}
        className={`${FIELD} min-h-40 font-mono text-sm`}
      />
      <BadLines bad={bad} />
      {stored.error !== null && <ErrorCard error={stored.error} what="Reading what is stored" />}
      {entries.length > 0 && (
        <p role="status">
          {formatCount(plan.new.length)} new, {formatCount(plan.changed.length)} changed,{' '}
          {formatCount(plan.same.length)} unchanged. Nothing is written yet.
        </p>
      )}
      {error !== undefined && <ErrorCard error={error} what="Writing some of the entries" />}
      <div className="flex items-center justify-end gap-2">
        {progress !== undefined && (
          <progress aria-label="Import" value={progress.done} max={progress.of} className="flex-1" />
        )}
        <Button onClick={onClose}>Cancel</Button>
        <Button look="primary" disabled={!isReady} onClick={() => void run()}>
          Write {formatCount(writes.length)} entries
        </Button>
      </div>
    </Sheet>
  );
}

function BadLines({ bad }: { readonly bad: readonly BadLine[] }): ReactNode {
  if (bad.length === 0) return undefined;
  return (
    <ul role="alert" className="flex flex-col gap-0.5 text-sm text-bad">
      {bad.slice(0, SHOWN).map(({ line, problem }) => (
        <li key={line}>
          Line {line}: {problem}
        </li>
      ))}
      {bad.length > SHOWN && <li>and {formatCount(bad.length - SHOWN)} more lines</li>}
    </ul>
  );
}
