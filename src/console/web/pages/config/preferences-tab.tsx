// The preferences that this browser keeps (CFG-2, APP-7, APP-8, KEY-1).

import type { ReactNode } from 'react';
import { preferences, setPreference } from '../../data/preferences.ts';
import { useStore } from '../../data/store.ts';
import { Segments, Toggle } from '../../kit/inputs/field.tsx';
import { Card } from '../../kit/layout/page.tsx';

export function PreferencesTab(): ReactNode {
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
