// Export of a scope to a file, and import of JSON lines into a scope: first a preview, then the import (STA-6).

import { useQuery } from '@tanstack/react-query';
import { MoreHorizontal } from 'lucide-react';
import { type ReactNode, useMemo, useState } from 'react';
import { call, isNotFound } from '../../data/api.ts';
import { useReadOnly } from '../../data/connection.ts';
import { refetchSoon } from '../../data/queries.ts';
import { formatCount } from '../../kit/charts/times.ts';
import { ErrorCard } from '../../kit/feedback/error-card.tsx';
import { toast } from '../../kit/feedback/toast.tsx';
import { Button, IconButton } from '../../kit/inputs/button.tsx';
import { download } from '../../kit/inputs/copy.tsx';
import { FIELD } from '../../kit/inputs/field.tsx';
import { Menu } from '../../kit/inputs/menu.tsx';
import { Sheet } from '../../kit/layout/overlays.tsx';
import { readEntry, writeEntry } from './entries.ts';
import { type BadLine, eachOf, importPlan, printStateLine, readStateLines } from './logic/state-lines.ts';

export function ScopeMenu({ scope }: { readonly scope: string }): ReactNode {
  const [isImporting, setImporting] = useState(false);
  const isReadOnly = useReadOnly();
  return (
    <>
      <Menu
        trigger={
          <IconButton label="Scope actions">
            <MoreHorizontal size={16} />
          </IconButton>
        }
        items={[
          { label: 'Export as JSON lines', run: () => void exportScope(scope) },
          { label: 'Import JSON lines…', disabled: isReadOnly, run: () => setImporting(true) },
        ]}
      />
      {isImporting && <ImportDialog scope={scope} onClose={() => setImporting(false)} />}
    </>
  );
}

async function exportScope(scope: string): Promise<void> {
  try {
    const values = await readValues(scope);
    const lines = [...values].map(([key, value]) => printStateLine({ key, value }));
    download(`${scope}.jsonl`, 'application/jsonl', lines.join(''));
    toast({ tone: 'good', text: `Exported ${formatCount(values.size)} entries` });
  } catch (thrown) {
    toast({ tone: 'bad', text: thrown instanceof Error ? thrown.message : String(thrown) });
  }
}

const PAGE = 1_000;

/** Every value of a scope as its text: a list contains the whole short ones, the others are read one by one. */
async function readValues(scope: string): Promise<Map<string, string>> {
  const values = new Map<string, string>();
  for (let cursor: string | undefined, isFirst = true; isFirst || cursor !== undefined; isFirst = false) {
    const query = { limit: PAGE, ...(cursor !== undefined && { cursor }) };
    const { items, next_cursor: next } = await call('GET /states/{scope}/items', { parts: { scope }, query });
    for (const { key, preview, truncated } of items) {
      if (!truncated) values.set(key, preview);
      else {
        // It may be deleted between the two reads.
        const item = await readEntry(scope, key).catch((thrown: unknown) => {
          if (!isNotFound(thrown)) throw thrown;
        });
        if (item) values.set(key, item.text);
      }
    }
    cursor = next ?? undefined;
  }
  return values;
}

const SHOWN = 20;

function ImportDialog({ scope, onClose }: { readonly scope: string; readonly onClose: () => void }): ReactNode {
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
      ({ key, value }) => writeEntry(scope, key, value, undefined),
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
