// The path of the open stream and group, with links to the levels above.

import { ChevronRight } from 'lucide-react';
import type { ReactNode } from 'react';
import { usePageSearch } from '../../data/search.ts';
import { visibleText } from '../../kit/json/logic/visible-text.ts';
import { STREAMS_SEARCH } from './search.ts';

export function Crumbs(): ReactNode {
  const { search, setSearch } = usePageSearch(STREAMS_SEARCH);
  const { stream, group } = search;
  if (stream === undefined) return undefined;
  const link = 'max-w-48 truncate text-accent hover:underline';
  return (
    <nav aria-label="Place" className="flex min-w-0 items-center gap-1">
      <button
        type="button"
        className={link}
        onClick={() => setSearch({ stream: undefined, group: undefined, item: undefined }, { push: true })}
      >
        All streams
      </button>
      <ChevronRight size={13} className="text-faint" />
      {group === undefined ? (
        <span className="truncate font-mono">{visibleText(stream)}</span>
      ) : (
        <>
          <button
            type="button"
            className={`font-mono ${link}`}
            onClick={() => setSearch({ group: undefined, item: undefined }, { push: true })}
          >
            {visibleText(stream)}
          </button>
          <ChevronRight size={13} className="text-faint" />
          <span className="truncate font-mono">{visibleText(group)}</span>
        </>
      )}
    </nav>
  );
}
