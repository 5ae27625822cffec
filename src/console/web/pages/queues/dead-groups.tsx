// Dead letters by their error (QUE-3): errors that differ only in digits and ids are one group.

import { useQuery } from '@tanstack/react-query';
import { RotateCcw, Trash2 } from 'lucide-react';
import type { ReactNode } from 'react';
import type { DeadGroup } from '../../../../console-api/queues.ts';
import { call } from '../../data/api.ts';
import { useReadOnly } from '../../data/connection.ts';
import { usePageSearch } from '../../data/search.ts';
import { Time } from '../../kit/charts/time.tsx';
import { formatCount } from '../../kit/charts/times.ts';
import { ErrorCard } from '../../kit/feedback/error-card.tsx';
import { IconButton } from '../../kit/inputs/button.tsx';
import { visibleText } from '../../kit/json/logic/visible-text.ts';
import { classes } from '../../kit/layout/classes.ts';
import type { AskBulk } from './job-list.tsx';
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
