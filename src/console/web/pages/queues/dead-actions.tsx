// One dead letter: redriven unchanged or with another payload, or purged (QUE-3).

import { Pencil, RotateCcw, Trash2 } from 'lucide-react';
import { type ReactNode, useState } from 'react';
import type { JobDetail } from '../../../../console-api/queues.ts';
import { useKeys } from '../../app/keys.ts';
import { useReadOnly } from '../../data/connection.ts';
import { useDraft } from '../../data/drafts.ts';
import { ErrorCard } from '../../kit/feedback/error-card.tsx';
import { Badge } from '../../kit/feedback/status.tsx';
import { Button } from '../../kit/inputs/button.tsx';
import { JsonInput } from '../../kit/json/json-editor.tsx';
import { formatJsonSource } from '../../kit/json/logic/json-member.ts';
import { jsonProblem } from '../../kit/json/logic/json-source.ts';
import { BulkDialog, useBulk } from './bulk.tsx';
import type { BulkTarget } from './logic/dead-letters.ts';

interface DeadLetterActionsProps {
  readonly job: JobDetail;
  readonly payload: string;
  readonly isEditing: boolean;
  readonly setEditing: (isEditing: boolean) => void;
}

export function DeadLetterActions({ job, payload, isEditing, setEditing }: DeadLetterActionsProps): ReactNode {
  const start = useBulk(job.queue);
  const [error, setError] = useState<unknown>();
  const [isPurging, setPurging] = useState(false);
  const target: BulkTarget = { kind: 'ids', ids: [job.id] };
  const redrive = (text?: string): void => {
    setError(undefined);
    start('redrive', target, text).then(() => setEditing(false), setError);
  };
  const isReadOnly = useReadOnly();
  useKeys(
    [
      { keys: ['e'], name: 'Edit the payload', run: () => setEditing(true) },
      { keys: ['r'], name: 'Redrive', run: () => redrive() },
    ],
    !isReadOnly,
  );
  if (isReadOnly) return undefined;
  return (
    <section aria-label="Dead letter" className="flex flex-col gap-2">
      {!isEditing && (
        <div className="flex flex-wrap gap-2">
          <Button look="primary" icon={<RotateCcw size={13} />} onClick={() => redrive()}>
            Redrive
          </Button>
          <Button icon={<Pencil size={13} />} onClick={() => setEditing(true)}>
            Edit payload
          </Button>
          <Button icon={<Trash2 size={13} />} onClick={() => setPurging(true)}>
            Purge
          </Button>
        </div>
      )}
      {isEditing && <EditedPayload {...{ job, payload, redrive }} close={() => setEditing(false)} />}
      {error !== undefined && <ErrorCard error={error} what="Redriving the job" />}
      {isPurging && <BulkDialog verb="purge" queue={job.queue} target={target} onClose={() => setPurging(false)} />}
    </section>
  );
}

interface EditedPayloadProps {
  readonly job: JobDetail;
  readonly payload: string;
  readonly redrive: (text: string) => void;
  readonly close: () => void;
}

function EditedPayload({ job, payload, redrive, close }: EditedPayloadProps): ReactNode {
  const draft = useDraft(`job.${job.id}`, formatJsonSource(payload));
  const problem = jsonProblem(draft.text);
  const isFine = problem === undefined && draft.text.trim() !== '';
  const run = (): void => {
    if (isFine) redrive(draft.text);
  };
  return (
    <>
      <JsonInput
        label="Payload"
        value={draft.text}
        onChange={draft.set}
        onRun={run}
        note={draft.isDraft && <Badge>draft</Badge>}
      />
      <div className="flex flex-wrap items-center gap-2">
        <Button look="primary" icon={<RotateCcw size={13} />} disabled={!isFine} onClick={run}>
          Redrive with this payload
        </Button>
        <Button
          onClick={() => {
            draft.drop();
            close();
          }}
        >
          Cancel
        </Button>
        {problem !== undefined && <span className="text-sm text-bad">{problem}</span>}
      </div>
    </>
  );
}
