// Redrive and purge: confirmed before, and followed while the server works (QUE-3).

import type { ReactNode } from 'react';
import { call } from '../../data/api.ts';
import { readAgain } from '../../data/queries.ts';
import { usePageSearch } from '../../data/search.ts';
import { ConfirmDialog } from '../../kit/feedback/confirm.tsx';
import { TaskProgress } from '../../kit/feedback/task-progress.tsx';
import { visibleText } from '../../kit/json/logic/visible-text.ts';
import { type BulkTarget, type BulkVerb, bulkRequest, targetWords } from './logic/dead-letters.ts';
import { QUEUES_SEARCH } from './search.ts';

/** Opens the dialog that asks for confirmation. */
export type AskBulk = (verb: BulkVerb, target: BulkTarget) => void;

export interface BulkDialogProps {
  readonly verb: BulkVerb;
  /** `*`: all queues. */
  readonly queue: string;
  readonly target: BulkTarget;
  readonly onClose: () => void;
}

export function BulkDialog({ verb, queue, target, onClose }: BulkDialogProps): ReactNode {
  const start = useBulk(queue);
  const what = targetWords(target);
  const where = queue === '*' ? 'all queues' : visibleText(queue);
  return (
    <ConfirmDialog
      open
      onClose={onClose}
      title={verb === 'redrive' ? `Redrive ${what}?` : `Purge ${what}?`}
      action={verb === 'redrive' ? 'Redrive' : 'Purge'}
      harmless={verb === 'redrive'}
      {...(verb === 'purge' && { typed: queue === '*' ? 'all queues' : queue })}
      run={() => start(verb, target)}
    >
      {verb === 'redrive' ? (
        <p>The jobs return to the end of {where} and run again with all their attempts.</p>
      ) : (
        <p>The jobs and their payloads are removed from {where}. This cannot be undone.</p>
      )}
    </ConfirmDialog>
  );
}

/** Starts the task. The address then names the task whose progress is shown. */
export function useBulk(queue: string): (verb: BulkVerb, target: BulkTarget, payloadText?: string) => Promise<void> {
  const { setSearch } = usePageSearch(QUEUES_SEARCH);
  return async (verb, target, payloadText) => {
    const request = JSON.stringify(bulkRequest(target));
    // The payload is sent as it was typed, with its numbers unchanged.
    const text = payloadText === undefined ? request : `${request.slice(0, -1)},"payload":${payloadText}}`;
    const route = verb === 'redrive' ? 'POST /queues/{queue}/dlq/redrive' : 'POST /queues/{queue}/dlq/purge';
    const { task_id } = await call(route, { parts: { queue }, text });
    setSearch({ task: task_id });
  };
}

export function BulkProgress(): ReactNode {
  const { search, setSearch } = usePageSearch(QUEUES_SEARCH);
  if (search.task === undefined) return undefined;
  return (
    <TaskProgress
      key={search.task}
      id={search.task}
      onEnd={() => {
        for (const key of ['queues', 'queue', 'jobs', 'dead-groups', 'job']) readAgain([key]);
      }}
      onClose={() => setSearch({ task: undefined })}
    />
  );
}
