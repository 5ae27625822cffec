// A bulk task of the server: its progress, its result, and a button that cancels it (QUE-3).

import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Square, X } from 'lucide-react';
import { type ReactNode, useEffect, useRef } from 'react';
import type { Task } from '../../../api/queues.ts';
import { call } from '../../data/api.ts';
import { useReadOnly } from '../../data/connection.ts';
import { useLive } from '../../data/use-live.ts';
import { taskProgress } from '../../pages/queues/logic/dead-letters.ts';
import { Button, IconButton } from '../inputs/button.tsx';
import { visibleText } from '../json/logic/visible-text.ts';
import { ErrorCard } from './error-card.tsx';
import { Announce } from './live-changes.tsx';
import { Status, type Tone } from './status.tsx';

export interface TaskProgressProps {
  readonly id: string;
  /** Called when the task has ended: the data that it worked on has changed. */
  readonly onEnd: () => void;
  readonly onClose: () => void;
}

const STATES: Readonly<Record<Task['state'], { readonly tone: Tone; readonly word: string }>> = {
  running: { tone: 'busy', word: 'Running' },
  done: { tone: 'good', word: 'Done' },
  failed: { tone: 'bad', word: 'Failed' },
  cancelled: { tone: 'warn', word: 'Cancelled' },
};

export function TaskProgress({ id, onEnd, onClose }: TaskProgressProps): ReactNode {
  const client = useQueryClient();
  const key = ['task', id];
  const { data: task, error } = useQuery({
    queryKey: key,
    queryFn: async ({ signal }) => {
      const read = await call('GET /tasks/{id}', { parts: { id }, signal });
      const known = client.getQueryData<Task>(key);
      // The live socket may have reported its end while this older answer was on its way. No further report follows.
      return known === undefined || known.state === 'running' ? read : known;
    },
  });
  useLive(`task:${id}`, {
    items: (items) => client.setQueryData(key, items.at(-1)),
    back: () => void client.invalidateQueries({ queryKey: key }),
  });
  const ended = useRef(onEnd);
  ended.current = onEnd;
  const isOver = task !== undefined && task.state !== 'running';
  useEffect(() => {
    if (isOver) ended.current();
  }, [isOver]);
  const isReadOnly = useReadOnly();
  if (error !== null && task === undefined) {
    return (
      <div className="p-3">
        <ErrorCard error={error} what="Reading the task" />
        <Button className="mt-2" onClick={onClose}>
          Close
        </Button>
      </div>
    );
  }
  if (task === undefined) return undefined;
  const { share, words, isRunning } = taskProgress(task);
  const { tone, word } = STATES[task.state];
  const what = `${task.kind === 'redrive' ? 'Redrive' : 'Purge'} in ${visibleText(task.subject)}`;
  return (
    <section
      aria-label={what}
      className="flex shrink-0 flex-wrap items-center gap-x-3 gap-y-1 border-b border-line bg-raised px-4 py-2 text-sm"
    >
      <span className="font-medium">{what}</span>
      <Status tone={task.failed > 0 && task.state === 'done' ? 'warn' : tone} word={word} />
      <ProgressBar label={what} share={share} />
      <span className="text-muted tabular-nums">{words}</span>
      <Announce text={words} />
      {task.error !== null && <span className="break-all text-bad">{visibleText(task.error)}</span>}
      <span className="flex-1" />
      {isRunning && !isReadOnly && (
        <Button
          icon={<Square size={13} />}
          onClick={() => {
            void call('DELETE /tasks/{id}', { parts: { id } }).then((now) => client.setQueryData(key, now));
          }}
        >
          Cancel
        </Button>
      )}
      {!isRunning && (
        <IconButton label="Close the progress" onClick={onClose}>
          <X size={15} />
        </IconButton>
      )}
    </section>
  );
}

export interface ProgressBarProps {
  readonly label: string;
  /** 0 to 1; undefined where the total is not known. */
  readonly share: number | undefined;
}

/** Drawn where the total is not known. */
const UNKNOWN_SHARE = 0.3;

export function ProgressBar({ label, share }: ProgressBarProps): ReactNode {
  return (
    <div
      role="progressbar"
      aria-label={label}
      aria-valuemin={0}
      aria-valuemax={100}
      {...(share !== undefined && { 'aria-valuenow': Math.round(share * 100) })}
      className="h-1.5 w-40 overflow-hidden rounded-full bg-ground"
    >
      <div className="h-full bg-accent-fill" style={{ width: `${(share ?? UNKNOWN_SHARE) * 100}%` }} />
    </div>
  );
}
