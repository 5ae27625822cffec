// The Streams page: the live messages of the stream server, and the items of the streams (STR-1 to STR-5).

import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { call } from '../../data/api.ts';
import { usePageSearch } from '../../data/search.ts';
import { FailedState, Loading } from '../../kit/feedback/empty-state.tsx';
import { Segments } from '../../kit/inputs/field.tsx';
import { Page } from '../../kit/layout/page.tsx';
import { Browse } from './browse.tsx';
import { Monitor } from './monitor.tsx';
import { STREAMS_SEARCH } from './search.ts';

const TABS = [
  { value: 'monitor', label: 'Monitor' },
  { value: 'browse', label: 'Browse' },
] as const;

export default function Streams(): ReactNode {
  const { search, setSearch } = usePageSearch(STREAMS_SEARCH);
  // The answer also shows whether the stream module is loaded.
  const { data, error, refetch } = useQuery({
    queryKey: ['streams', 'any'],
    queryFn: ({ signal }) => call('GET /streams', { query: { limit: 1 }, signal }),
  });
  const tabs = (
    <Segments label="View" value={search.tab} choices={TABS} onChange={(tab) => setSearch({ tab, msg: undefined })} />
  );
  if (data === undefined) {
    return (
      <Page title="Streams" actions={tabs}>
        {error === null ? (
          <Loading what="the streams" />
        ) : (
          <FailedState
            error={error}
            what="Streams"
            shows="the live messages of all streams, and their items"
            retry={() => void refetch()}
          />
        )}
      </Page>
    );
  }
  return search.tab === 'browse' ? <Browse tabs={tabs} /> : <Monitor tabs={tabs} />;
}
