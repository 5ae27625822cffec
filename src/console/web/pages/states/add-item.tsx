// A new entry: scope, key and value (STA-1). An existing entry is not overwritten.

import { Dialog } from 'radix-ui';
import { type ReactNode, useState } from 'react';
import { refetchSoon } from '../../data/queries.ts';
import { usePageSearch } from '../../data/search.ts';
import { ErrorCard } from '../../kit/feedback/error-card.tsx';
import { Button } from '../../kit/inputs/button.tsx';
import { Field, Input } from '../../kit/inputs/field.tsx';
import { JsonInput } from '../../kit/json/json-editor.tsx';
import { jsonProblem } from '../../kit/json/logic/json-source.ts';
import { Sheet } from '../../kit/layout/overlays.tsx';
import { FiredFunctions } from './fired-functions.tsx';
import { STATES_SEARCH } from './search.ts';
import { conflictOf, writeItem } from './values.ts';

export function AddItemDialog({
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
    writeItem(scope, key, text, { if_absent: true }).then(() => {
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
