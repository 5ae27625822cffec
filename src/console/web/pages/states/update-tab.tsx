// A list of update operations that is built by hand, previewed, then sent (STA-5).

import { Play, Plus, Trash2 } from 'lucide-react';
import { type ReactNode, useState } from 'react';
import type { UpdateError } from '../../../api/states.ts';
import { callText } from '../../data/api.ts';
import { refetchSoon } from '../../data/queries.ts';
import { ErrorCard } from '../../kit/feedback/error-card.tsx';
import { Shape } from '../../kit/feedback/status.tsx';
import { Button, IconButton } from '../../kit/inputs/button.tsx';
import { CopyAs } from '../../kit/inputs/copy.tsx';
import { Input, Select } from '../../kit/inputs/field.tsx';
import { JsonDiff } from '../../kit/json/json-editor.tsx';
import { memberSource } from '../../kit/json/logic/json-member.ts';
import { visibleText } from '../../kit/json/logic/visible-text.ts';
import { FiredFunctions } from './fired-functions.tsx';
import { OP_TYPES, type OpDraft, operandOf, opProblem, opsText } from './logic/entry-changes.ts';

interface UpdateTabProps {
  readonly scope: string;
  readonly itemKey: string;
  readonly onDone: () => void;
}

interface Outcome {
  readonly isPreview: boolean;
  readonly before: string;
  readonly after: string;
  readonly errors: readonly UpdateError[];
}

const FIRST: OpDraft = { id: 1, type: 'set', path: '', value: '' };

export function UpdateTab({ scope, itemKey, onDone }: UpdateTabProps): ReactNode {
  const [drafts, setDrafts] = useState<readonly OpDraft[]>([FIRST]);
  const [outcome, setOutcome] = useState<Outcome>();
  const [error, setError] = useState<unknown>();
  const ops = opsText(drafts);
  const isBlocked = drafts.length === 0 || drafts.some((draft) => opProblem(draft) !== undefined);
  const change = (id: number, to: Partial<OpDraft>): void => {
    setOutcome(undefined);
    setDrafts((now) => now.map((draft) => (draft.id === id ? { ...draft, ...to } : draft)));
  };
  const send = (isPreview: boolean): void => {
    setError(undefined);
    sendOps(scope, itemKey, ops, isPreview).then((answer) => {
      setOutcome(answer);
      if (isPreview) return;
      refetchSoon(['states', scope]);
      onDone();
    }, setError);
  };
  return (
    <div className="flex flex-col gap-3 p-3">
      <ol className="flex flex-col gap-2">
        {drafts.map((draft, at) => (
          <OpRow
            key={draft.id}
            {...{ draft, at }}
            error={outcome?.errors.find(({ op_index: index }) => index === at)}
            change={(to) => change(draft.id, to)}
            remove={() => setDrafts((now) => now.filter(({ id }) => id !== draft.id))}
          />
        ))}
      </ol>
      <div className="flex flex-wrap gap-2">
        <Button
          icon={<Plus size={13} />}
          onClick={() => setDrafts((now) => [...now, { ...FIRST, id: Math.max(0, ...now.map(({ id }) => id)) + 1 }])}
        >
          Operation
        </Button>
        <span className="flex-1" />
        <Button disabled={isBlocked} onClick={() => send(true)}>
          Preview
        </Button>
        <Button look="primary" icon={<Play size={13} />} disabled={isBlocked} onClick={() => send(false)}>
          Update
        </Button>
        <CopyAs
          call={{
            functionId: 'state::update',
            payloadText: `{"scope":${JSON.stringify(scope)},"key":${JSON.stringify(itemKey)},"ops":${ops}}`,
            mode: 'wait',
          }}
        />
      </div>
      {isBlocked && (
        <p className="text-sm text-muted">
          {drafts.length === 0 ? 'Add an operation first.' : 'Each operation needs its value first.'}
        </p>
      )}
      <FiredFunctions scope={scope} itemKey={itemKey} />
      {error !== undefined && <ErrorCard error={error} what="Updating" />}
      {outcome !== undefined && (
        <section aria-label={outcome.isPreview ? 'Preview' : 'Updated'} className="flex flex-col gap-1">
          <h3 className="text-sm font-medium">{outcome.isPreview ? 'It would become' : 'It became'}</h3>
          <JsonDiff label="Result" before={outcome.before} after={outcome.after} />
        </section>
      )}
    </div>
  );
}

interface OpRowProps {
  readonly draft: OpDraft;
  readonly at: number;
  readonly error: UpdateError | undefined;
  readonly change: (to: Partial<OpDraft>) => void;
  readonly remove: () => void;
}

function OpRow({ draft, at, error, change, remove }: OpRowProps): ReactNode {
  const operand = operandOf(draft.type);
  const problem = draft.value === '' ? undefined : opProblem(draft);
  return (
    <li className="flex flex-col gap-1">
      <div className="flex flex-wrap items-center gap-2">
        <Select
          aria-label={`Operation ${at + 1}`}
          value={draft.type}
          onChange={({ target }) => change({ type: OP_TYPES.find((type) => type === target.value) ?? 'set' })}
        >
          {OP_TYPES.map((type) => (
            <option key={type}>{type}</option>
          ))}
        </Select>
        <Input
          aria-label={`Path ${at + 1}`}
          placeholder="field; empty: all"
          value={draft.path}
          onChange={({ target }) => change({ path: target.value })}
          className="min-w-32 flex-1 font-mono"
        />
        {operand !== undefined && (
          <Input
            aria-label={`${operand === 'by' ? 'By' : 'Value'} ${at + 1}`}
            placeholder={operand === 'by' ? '1' : 'JSON'}
            value={draft.value}
            aria-invalid={problem !== undefined}
            onChange={({ target }) => change({ value: target.value })}
            className="min-w-32 flex-1 font-mono"
          />
        )}
        <IconButton label={`Remove operation ${at + 1}`} onClick={remove}>
          <Trash2 size={14} />
        </IconButton>
      </div>
      {problem !== undefined && <p className="text-sm text-bad">{problem}</p>}
      {error !== undefined && (
        <p role="alert" className="flex flex-wrap items-center gap-2 text-sm text-bad">
          <Shape tone="bad" />
          <code>{error.code}</code>
          {visibleText(error.message)}
          {error.doc_url !== undefined && /^https?:/.test(error.doc_url) && (
            <a href={error.doc_url} target="_blank" rel="noopener noreferrer" className="text-accent underline">
              About this error
            </a>
          )}
        </p>
      )}
    </li>
  );
}

async function sendOps(scope: string, key: string, ops: string, isPreview: boolean): Promise<Outcome> {
  const { text } = await callText('POST /states/{scope}/items/{key}/update', {
    parts: { scope, key },
    text: `{"ops":${ops}${isPreview ? ',"dry_run":true' : ''}}`,
  });
  return {
    isPreview,
    before: memberSource(text, 'old_value') ?? 'null',
    after: memberSource(text, 'new_value') ?? 'null',
    errors: JSON.parse(memberSource(text, 'errors') ?? '[]'),
  };
}
