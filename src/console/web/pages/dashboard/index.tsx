// The Dashboard: counts, charts, and what needs attention (DSH-1 to DSH-6).

import type { ReactNode } from 'react';
import { useCounters } from '../../data/counters.ts';
import { preferences, setPreference } from '../../data/preferences.ts';
import { useStore } from '../../data/store.ts';
import { Time } from '../../kit/charts/time.tsx';
import { FirstRun } from '../../kit/feedback/empty-state.tsx';
import { Toggle } from '../../kit/inputs/field.tsx';
import { Page } from '../../kit/layout/page.tsx';
import { AttentionList } from './attention-list.tsx';
import { Charts } from './charts.tsx';
import { Counters } from './counters.tsx';
import { FlowPreview } from './flow-preview.tsx';
import { TopFunctions } from './top-functions.tsx';
import { useDashboardFacts } from './use-facts.ts';

export default function Dashboard(): ReactNode {
  const { internal } = useStore(preferences);
  const { latest } = useCounters();
  const facts = useDashboardFacts(internal);
  const counts = latest ?? facts.status?.counts;
  // The console's own server is a worker too, so the number of workers does not show that an engine is new.
  const isNew = counts?.functions === 0;
  return (
    <Page
      title="Dashboard"
      note={
        latest !== undefined && (
          <span className="flex gap-1.5">
            updated <Time ms={latest.at} />
          </span>
        )
      }
      actions={<Toggle label="Internal" checked={internal} onChange={(on) => setPreference('internal', on)} />}
      scrolls
    >
      <div className="mx-auto flex max-w-[1600px] flex-col gap-4 p-4">
        <Counters counts={counts} />
        {isNew ? (
          <FirstRun />
        ) : (
          <>
            <Charts />
            <div className="grid gap-4 xl:grid-cols-[minmax(0,2fr)_minmax(0,3fr)]">
              <AttentionList facts={facts} />
              <FlowPreview />
            </div>
            <TopFunctions functions={facts.functions} />
          </>
        )}
      </div>
    </Page>
  );
}
