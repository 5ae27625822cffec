// Dialogs for a new entry, where an existing one is not overwritten (STA-1), and for deleting entries: one after a
// confirmation, several after their number was typed (STA-6).

import { Dialog } from 'radix-ui';
import { type ReactNode, useState } from 'react';
import { call } from '../../data/api.ts';
import { refetchSoon } from '../../data/queries.ts';
import { usePageSearch } from '../../data/search.ts';
import { formatCount } from '../../kit/charts/times.ts';
import { ConfirmDialog } from '../../kit/feedback/confirm.tsx';
import { ErrorCard } from '../../kit/feedback/error-card.tsx';
import { Button } from '../../kit/inputs/button.tsx';
import { Field, Input } from '../../kit/inputs/field.tsx';
import { JsonInput } from '../../kit/json/json-editor.tsx';
import { jsonProblem } from '../../kit/json/logic/json-source.ts';
import { visibleText } from '../../kit/json/logic/visible-text.ts';
import { Sheet } from '../../kit/layout/overlays.tsx';
import { conflictOf, writeEntry } from './entries.ts';
import { FiredFunctions } from './fired-functions.tsx';
import { eachOf } from './logic/state-lines.ts';
import { STATES_SEARCH } from './search.ts';

export function AddEntryDialog({
  scope: given,
  onClose,
}: {
  readonly scope: string;
  readonly onClose: () => void;
}): ReactNode {
  const { setSearch } = usePageSearch(STATES_SEARCH);
  const [scope, setScope] = useState(given);
  const [key, setKey] = useState('');
  const [text, setText] = useState('{}');
  const [error, setError] = useState<unknown>();
  const problem = jsonProblem(text);
  const isBlocked = scope === '' || key === '' || text.trim() === '' || problem !== undefined;
  const save = (): void => {
    if (isBlocked) return;
    writeEntry(scope, key, text, { if_absent: true }).then(() => {
      refetchSoon(['scopes']);
      refetchSoon(['states', scope]);
      setSearch({ scope, key, q: '', tab: 'value' }, { push: true });
      onClose();
    }, setError);
  };
  const isThere = conflictOf(error) !== undefined;
  return (
    <Sheet title="Add item" onClose={onClose}>
      <div className="flex flex-wrap gap-3">
        <Field label="Scope" className="min-w-40 flex-1">
          {(ids) => <Input {...ids} value={scope} onChange={(event) => setScope(event.target.value)} />}
        </Field>
        <Field label="Key" className="min-w-40 flex-1" error={isThere ? 'There is an entry with this key' : undefined}>
          {(ids) => (
            <Input
              {...ids}
              value={key}
              onChange={(event) => {
                setKey(event.target.value);
                setError(undefined);
              }}
            />
          )}
        </Field>
      </div>
      <JsonInput label="Value" value={text} onChange={setText} onSave={save} onRun={save} />
      {problem !== undefined && <p className="text-sm text-bad">{problem}</p>}
      <FiredFunctions scope={scope} itemKey={key} />
      {error !== undefined && !isThere && <ErrorCard error={error} what="Adding the item" />}
      <div className="flex items-center justify-end gap-2">
        {(scope === '' || key === '') && (
          <span className="mr-auto text-sm text-muted">It needs a scope and a key.</span>
        )}
        <Dialog.Close asChild>
          <Button>Cancel</Button>
        </Dialog.Close>
        <Button look="primary" disabled={isBlocked} onClick={save}>
          Add
        </Button>
      </div>
    </Sheet>
  );
}

interface DeleteDialogProps {
  readonly scope: string;
  readonly keys: readonly string[];
  /** Only of a single entry: the deletion is refused when the entry has changed since. */
  readonly version?: string;
  readonly onClose: () => void;
}

const SHOWN = 8;

export function DeleteDialog({ scope, keys, version, onClose }: DeleteDialogProps): ReactNode {
  const count = formatCount(keys.length);
  const run = async (): Promise<void> => {
    const query = version === undefined ? {} : { if_version: version };
    const failures = await eachOf(keys, (key) =>
      call('DELETE /states/{scope}/items/{key}', { parts: { scope, key }, query }),
    );
    refetchSoon(['states', scope]);
    refetchSoon(['scopes']);
    const [first] = failures;
    if (first !== undefined) throw first;
  };
  return (
    <ConfirmDialog
      open
      onClose={onClose}
      title={keys.length === 1 ? 'Delete this entry?' : `Delete ${count} entries?`}
      action={keys.length === 1 ? 'Delete' : `Delete ${count} entries`}
      {...(keys.length > 1 && { typed: String(keys.length) })}
      run={run}
    >
      <p>This cannot be undone. Triggers on the deletion fire.</p>
      <ul className="mt-2 max-h-40 overflow-y-auto font-mono text-sm text-text">
        {keys.slice(0, SHOWN).map((key) => (
          <li key={key} className="truncate">
            {visibleText(key)}
          </li>
        ))}
        {keys.length > SHOWN && <li className="font-sans text-muted">and {formatCount(keys.length - SHOWN)} more</li>}
      </ul>
    </ConfirmDialog>
  );
}
