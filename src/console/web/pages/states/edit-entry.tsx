// Editing an entry: the change is shown before it is saved, and changes by others are not lost (STA-3).

import { Save } from 'lucide-react';
import { type ReactNode, useRef, useState } from 'react';
import { useKeys } from '../../app/keys.ts';
import { useDraft } from '../../data/drafts.ts';
import { refetchSoon } from '../../data/queries.ts';
import { ErrorCard } from '../../kit/feedback/error-card.tsx';
import { Badge } from '../../kit/feedback/status.tsx';
import { Button } from '../../kit/inputs/button.tsx';
import { JsonDiff, JsonInput } from '../../kit/json/json-editor.tsx';
import { formatJsonSource } from '../../kit/json/logic/json-member.ts';
import { duplicateKeys, jsonProblem, parseJsonSource } from '../../kit/json/logic/json-source.ts';
import { Sheet } from '../../kit/layout/overlays.tsx';
import { conflictOf, type SaveCondition, type StoredEntry, writeEntry } from './entries.ts';
import { FiredFunctions } from './fired-functions.tsx';

interface EditEntryProps {
  readonly scope: string;
  readonly itemKey: string;
  readonly item: StoredEntry;
  readonly isGone: boolean;
  readonly onDone: () => void;
  readonly onCancel: () => void;
}

export function EditEntry({ scope, itemKey, item, isGone, onDone, onCancel }: EditEntryProps): ReactNode {
  // The entry as it was when the edit began. Later changes by others do not change it.
  const base = useRef(item);
  const draft = useDraft(`state.${scope}.${itemKey}`, formatJsonSource(base.current.text));
  const [isAsking, setAsking] = useState(false);
  const problem = jsonProblem(draft.text);
  const isFine = problem === undefined && draft.text.trim() !== '';
  const ask = (): void => {
    if (isFine && draft.isDraft) setAsking(true);
  };
  useKeys([{ keys: ['mod+s'], name: 'Save', inInputs: true, run: ask }]);
  const isBehind = isGone || item.facts.version !== base.current.facts.version;
  return (
    <>
      <JsonInput
        label="Value"
        value={draft.text}
        onChange={draft.set}
        onSave={ask}
        onRun={ask}
        minLines={12}
        note={draft.isDraft && <Badge>draft</Badge>}
      />
      {isBehind && (
        <p role="status" className="text-sm text-warn">
          {isGone ? 'It was deleted' : 'It changed'} since this edit began. Saving shows the difference.
        </p>
      )}
      <div className="flex flex-wrap items-center gap-2">
        <Button look="primary" icon={<Save size={13} />} disabled={!isFine || !draft.isDraft} onClick={ask}>
          Save
        </Button>
        <Button
          onClick={() => {
            draft.drop();
            onCancel();
          }}
        >
          Cancel
        </Button>
        {problem !== undefined && <span className="text-sm text-bad">{problem}</span>}
        {problem === undefined && !draft.isDraft && <span className="text-sm text-muted">Nothing is changed yet.</span>}
      </div>
      <FiredFunctions scope={scope} itemKey={itemKey} />
      {isAsking && (
        <SaveDialog
          {...{ scope, itemKey, base: base.current, text: draft.text }}
          onClose={() => setAsking(false)}
          onSaved={() => {
            draft.drop();
            refetchSoon(['states', scope]);
            onDone();
          }}
          onReload={(current) => {
            draft.drop(current === undefined ? undefined : formatJsonSource(current.text));
            onDone();
          }}
        />
      )}
    </>
  );
}

interface SaveDialogProps {
  readonly scope: string;
  readonly itemKey: string;
  readonly base: StoredEntry;
  readonly text: string;
  readonly onClose: () => void;
  readonly onSaved: () => void;
  readonly onReload: (current: StoredEntry | undefined) => void;
}

function SaveDialog(props: SaveDialogProps): ReactNode {
  const { scope, itemKey, base, text, onClose, onSaved, onReload } = props;
  const [error, setError] = useState<unknown>();
  const [isBusy, setBusy] = useState(false);
  const conflict = conflictOf(error);
  const save = (condition: SaveCondition): void => {
    setBusy(true);
    writeEntry(scope, itemKey, text, condition).then(onSaved, (thrown: unknown) => {
      setBusy(false);
      setError(thrown);
    });
  };
  if (conflict !== undefined) {
    const { current } = conflict;
    // Overwriting refers to the version that is shown here: a third change is refused again.
    const seen: SaveCondition = current === null ? { if_absent: true } : { if_version: current.facts.version };
    return (
      <Sheet title="It changed since it was read" onClose={onClose}>
        <p className="text-warn">
          {current === null ? 'It was deleted in the meantime.' : 'Another client saved it in the meantime.'}
        </p>
        {current !== null && (
          <>
            <h3 className="text-sm font-medium">Their change: from the value as read to the value stored now</h3>
            <JsonDiff label="Their change" before={base.text} after={current.text} />
          </>
        )}
        <h3 className="text-sm font-medium">Your change: from the value stored now to your text</h3>
        <JsonDiff label="Your change" before={current?.text ?? ''} after={text} />
        <div className="flex flex-wrap justify-end gap-2">
          <Button onClick={onClose}>Back to the edit</Button>
          <Button onClick={() => onReload(current ?? undefined)}>Reload, drop my text</Button>
          <Button look="danger" disabled={isBusy} onClick={() => save(seen)}>
            Overwrite
          </Button>
        </div>
      </Sheet>
    );
  }
  return (
    <Sheet title="Save this?" onClose={onClose}>
      <JsonDiff label="What will change" before={base.text} after={text} />
      <Duplicates text={text} />
      <FiredFunctions scope={scope} itemKey={itemKey} />
      {error !== undefined && <ErrorCard error={error} what="Saving" />}
      <div className="flex justify-end gap-2">
        <Button onClick={onClose}>Back to the edit</Button>
        <Button look="primary" disabled={isBusy} onClick={() => save({ if_version: base.facts.version })}>
          Save
        </Button>
      </div>
    </Sheet>
  );
}

function Duplicates({ text }: { readonly text: string }): ReactNode {
  const paths = duplicateKeys(parseJsonSource(text));
  if (paths.length === 0) return undefined;
  return (
    <p role="alert" className="text-sm text-warn">
      These keys occur twice; readers use the last one: <code className="break-all">{paths.join(', ')}</code>
    </p>
  );
}
