// The Config page: how this console reaches the engine, the configuration of the engine, and the preferences of this
// browser (CFG-1, CFG-2).

import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { call } from '../../data/api.ts';
import { param, usePageSearch } from '../../data/search.ts';
import { FailedState, Loading } from '../../kit/feedback/empty-state.tsx';
import { Page } from '../../kit/layout/page.tsx';
import { type Tab, Tabs } from '../../kit/layout/tabs.tsx';
import { AlertsTab, SamplingTab } from './alerts-tab.tsx';
import { ConfigurationTab } from './configuration-tab.tsx';
import { ConnectionTab } from './connection-tab.tsx';
import { PreferencesTab } from './preferences-tab.tsx';

const SEARCH = {
  tab: param.choice(['engine', 'configuration', 'alerts', 'sampling', 'preferences']),
  q: param.text(),
};

type ConfigTab = (typeof SEARCH)['tab']['fallback'];

const TABS: readonly Tab<ConfigTab>[] = [
  { id: 'engine', label: 'Engine' },
  { id: 'configuration', label: 'Configuration' },
  { id: 'alerts', label: 'Alerts' },
  { id: 'sampling', label: 'Sampling' },
  { id: 'preferences', label: 'This browser' },
];

export default function Config(): ReactNode {
  const { search, setSearch } = usePageSearch(SEARCH);
  const { data, error, refetch } = useQuery({
    queryKey: ['status'],
    queryFn: ({ signal }) => call('GET /status', { signal }),
    refetchInterval: 5_000,
  });
  const content = (): ReactNode => {
    if (search.tab === 'preferences') return <PreferencesTab />;
    if (search.tab === 'configuration') return <ConfigurationTab q={search.q} setQ={(q) => setSearch({ q })} />;
    if (search.tab === 'alerts') return <AlertsTab />;
    if (search.tab === 'sampling') return <SamplingTab />;
    if (data !== undefined) return <ConnectionTab status={data} />;
    if (error === null) return <Loading what="the engine" />;
    return <FailedState error={error} what="Config" shows="the state of the engine" retry={() => void refetch()} />;
  };
  return (
    <Page title="Config" note={data === undefined ? undefined : `svc ${data.version}`}>
      <div className="flex h-full min-h-0 flex-col">
        <Tabs label="Config" tabs={TABS} value={search.tab} onChange={(tab) => setSearch({ tab })}>
          <div className="h-full overflow-y-auto">{content()}</div>
        </Tabs>
      </div>
    </Page>
  );
}
