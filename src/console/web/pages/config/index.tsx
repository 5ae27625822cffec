// The Config page: how this console reaches the engine, the configuration of the engine, and the preferences that this
// browser keeps (CFG-1, CFG-2, APP-7, APP-8, KEY-1).

import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { call } from '../../data/api.ts';
import { preferences, setPreference } from '../../data/preferences.ts';
import { param, usePageSearch } from '../../data/search.ts';
import { useStore } from '../../data/store.ts';
import { FailedState, Loading } from '../../kit/feedback/empty-state.tsx';
import { Segments, Toggle } from '../../kit/inputs/field.tsx';
import { Card, Page } from '../../kit/layout/page.tsx';
import { type Tab, Tabs } from '../../kit/layout/tabs.tsx';
import { AlertsTab, SamplingTab } from './alerts-tab.tsx';
import { ConfigurationTab } from './configuration-tab.tsx';
import { ConnectionTab } from './connection-tab.tsx';

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

function PreferencesTab(): ReactNode {
  const { theme, density, time, letters, internal } = useStore(preferences);
  return (
    <div className="p-4">
      <Card title="This browser" className="max-w-2xl" flush>
        <Choice name="Theme">
          <Segments
            label="Theme"
            value={theme}
            choices={[
              { value: 'system', label: 'System' },
              { value: 'dark', label: 'Dark' },
              { value: 'light', label: 'Light' },
            ]}
            onChange={(value) => setPreference('theme', value)}
          />
        </Choice>
        <Choice name="Density">
          <Segments
            label="Density"
            value={density}
            choices={[
              { value: 'comfortable', label: 'Comfortable' },
              { value: 'compact', label: 'Compact' },
            ]}
            onChange={(value) => setPreference('density', value)}
          />
        </Choice>
        <Choice name="Times">
          <Segments
            label="Times"
            value={time}
            choices={[
              { value: 'relative', label: 'Relative' },
              { value: 'local', label: 'Local' },
              { value: 'utc', label: 'UTC' },
            ]}
            onChange={(value) => setPreference('time', value)}
          />
        </Choice>
        <Choice name="Keys without Ctrl">
          <Toggle label="Single-letter keys" checked={letters} onChange={(on) => setPreference('letters', on)} />
        </Choice>
        <Choice name="Engine's own functions and calls">
          <Toggle label="Shown" checked={internal} onChange={(on) => setPreference('internal', on)} />
        </Choice>
      </Card>
    </div>
  );
}

function Choice({ name, children }: { readonly name: string; readonly children: ReactNode }): ReactNode {
  return (
    <div className="flex min-h-11 flex-wrap items-center gap-x-4 gap-y-1 border-b border-line px-3 py-2 last:border-0">
      <span className="min-w-40 flex-1">{name}</span>
      {children}
    </div>
  );
}
