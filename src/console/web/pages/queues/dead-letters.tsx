// Dead letters (QUE-3): grouped by their error, where errors that differ only in digits and ids are one group, and the
// actions on one. It is redriven unchanged or with another payload, or purged.

import { useQuery } from '@tanstack/react-query';
import { Pencil, RotateCcw, Trash2 } from 'lucide-react';
import { type ReactNode, useState } from 'react';
import type { DeadGroup, JobDetail } from '../../../api/queues.ts';
import { useKeys } from '../../app/keys.ts';
import { call } from '../../data/api.ts';
import { useReadOnly } from '../../data/connection.ts';
import { useDraft } from '../../data/drafts.ts';
import { usePageSearch } from '../../data/search.ts';
import { Time } from '../../kit/charts/time.tsx';
import { formatCount } from '../../kit/charts/times.ts';
import { ErrorCard } from '../../kit/feedback/error-card.tsx';
import { Badge } from '../../kit/feedback/status.tsx';
import { Button, IconButton } from '../../kit/inputs/button.tsx';
import { JsonInput } from '../../kit/json/json-editor.tsx';
import { formatJsonSource } from '../../kit/json/logic/json-member.ts';
import { jsonProblem } from '../../kit/json/logic/json-source.ts';
import { visibleText } from '../../kit/json/logic/visible-text.ts';
import { classes } from '../../kit/layout/classes.ts';
import { type AskBulk, BulkDialog, useBulk } from './bulk.tsx';
import type { BulkTarget } from './logic/dead-letters.ts';
import { QUEUES_SEARCH } from './search.ts';

export function DeadGroupList({ queue, ask }: { readonly queue: string; readonly ask: AskBulk }): ReactNode {
  const { search, setSearch } = usePageSearch(QUEUES_SEARCH);
  const { data, error } = useQuery({
    queryKey: ['dead-groups', queue],
    queryFn: ({ signal }) => call('GET /queues/{queue}/dlq/groups', { parts: { queue }, signal }),
  });
  if (error !== null && data === undefined) {
    return (
      <div className="p-3">
        <ErrorCard error={error} what="Grouping the dead letters" />
      </div>
    );
  }
  if (data === undefined || data.groups.length === 0) return undefined;
  return (
    <section aria-label="Dead letters by error" className="max-h-48 shrink-0 overflow-y-auto border-b border-line">
      <ul>
        {data.groups.map((group) => (
          <Group
            key={group.error}
            group={group}
            isChosen={search.error === group.error}
            choose={() => setSearch({ error: search.error === group.error ? '' : group.error })}
            ask={ask}
          />
        ))}
      </ul>
      {data.examined < data.total && (
        <p className="px-4 py-1.5 text-sm text-warn">
          Only the newest {formatCount(data.examined)} of {formatCount(data.total)} dead letters are grouped.
        </p>
      )}
    </section>
  );
}

interface GroupProps {
  readonly group: DeadGroup;
  readonly isChosen: boolean;
  readonly choose: () => void;
  readonly ask: AskBulk;
}

function Group({ group, isChosen, choose, ask }: GroupProps): ReactNode {
  const { error, count, last_at: lastAt } = group;
  const isReadOnly = useReadOnly();
  const target: BulkTarget = { kind: 'filter', filter: { error_group: error }, count };
  return (
    <li
      className={classes(
        'flex min-h-8 items-center gap-3 border-b border-line px-4 last:border-0',
        isChosen && 'bg-selected',
      )}
    >
      <button
        type="button"
        aria-pressed={isChosen}
        onClick={choose}
        className="flex min-w-0 flex-1 items-center gap-3 self-stretch text-left hover:text-accent"
      >
        <span className="w-12 shrink-0 text-right font-medium text-bad tabular-nums">{formatCount(count)}</span>
        <span className="min-w-0 flex-1 truncate" title={visibleText(error)}>
          {visibleText(error)}
        </span>
      </button>
      <Time ms={lastAt} className="hidden text-sm whitespace-nowrap text-muted sm:block" />
      {!isReadOnly && (
        <span className="flex">
          <IconButton label={`Redrive the group ${visibleText(error)}`} onClick={() => ask('redrive', target)}>
            <RotateCcw size={14} />
          </IconButton>
          <IconButton label={`Purge the group ${visibleText(error)}`} onClick={() => ask('purge', target)}>
            <Trash2 size={14} />
          </IconButton>
        </span>
      )}
    </li>
  );
}

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
