// The configuration in force: each value with its source and its meaning, and the whole as YAML (CFG-2).

import { useQuery } from '@tanstack/react-query';
import { Copy } from 'lucide-react';
import { type ReactNode, useMemo } from 'react';
import type { Config, ConfigField, ConfigSchema, ConfigValue } from '../../../api/system.ts';
import { call } from '../../data/api.ts';
import { Time } from '../../kit/charts/time.tsx';
import { FailedState, Loading, NoMatch } from '../../kit/feedback/empty-state.tsx';
import { Badge, Status } from '../../kit/feedback/status.tsx';
import { IconButton } from '../../kit/inputs/button.tsx';
import { copyText } from '../../kit/inputs/copy.tsx';
import { SearchInput } from '../../kit/inputs/filter-bar.tsx';
import { visibleText } from '../../kit/json/logic/visible-text.ts';
import { Card, Properties } from '../../kit/layout/page.tsx';

const TONES = { default: 'idle', file: 'busy', environment: 'warn' } as const;

export function ConfigurationTab({ q, setQ }: { readonly q: string; readonly setQ: (q: string) => void }): ReactNode {
  const { data, error, refetch } = useQuery({
    queryKey: ['config'],
    queryFn: ({ signal }) => call('GET /config', { signal }),
  });
  const schema = useQuery({
    queryKey: ['config', 'schema'],
    queryFn: ({ signal }) => call('GET /config/schema', { signal }),
    staleTime: Number.POSITIVE_INFINITY,
  });
  const helps = useMemo(() => helpsOf(schema.data), [schema.data]);
  if (data === undefined) {
    if (error === null) return <Loading what="the configuration" />;
    return <FailedState error={error} what="Configuration" shows="every setting" retry={() => void refetch()} />;
  }
  const wanted = q.toLowerCase();
  const values = data.values.filter(({ path, value }) =>
    `${path} ${JSON.stringify(value)}`.toLowerCase().includes(wanted),
  );
  return (
    <div className="grid gap-4 p-4 xl:grid-cols-2">
      <Card title="Settings" actions={<SearchInput label="Search settings" value={q} onChange={setQ} />} flush>
        {values.length === 0 ? (
          <NoMatch
            what="settings"
            total={data.values.length}
            filters={[{ label: `search: ${q}`, remove: () => setQ('') }]}
          />
        ) : (
          <ul>
            {values.map((value) => (
              <Setting key={value.path} value={value} field={helps.get(value.path)} />
            ))}
          </ul>
        )}
      </Card>
      <div className="flex min-w-0 flex-col gap-4">
        <FileCard config={data} />
        <Card
          title="Effective configuration"
          actions={
            <IconButton label="Copy YAML" onClick={() => void copyText(data.yaml, 'YAML')}>
              <Copy size={14} />
            </IconButton>
          }
        >
          {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard */}
          <pre tabIndex={0} className="max-h-[70vh] overflow-auto text-sm leading-5">
            {visibleText(data.yaml)}
          </pre>
        </Card>
      </div>
    </div>
  );
}

function FileCard({ config }: { readonly config: Config }): ReactNode {
  const { last_reload: reload } = config;
  return (
    <Card title="File">
      <Properties
        rows={[
          ['File', <code key="file">{config.file ?? 'none: built-in defaults'}</code>],
          [
            'Last reload',
            reload === null ? (
              'none since the start'
            ) : (
              <span key="reload" className="flex flex-wrap gap-2">
                <Status tone={reload.ok ? 'good' : 'bad'} word={reload.ok ? 'Taken' : 'Refused'} />
                <Time ms={reload.at} /> {visibleText(reload.message)}
              </span>
            ),
          ],
          ...config.warnings.map((warning, at): [string, ReactNode] => [
            at === 0 ? 'Warnings' : `Warning ${at + 1}`,
            visibleText(warning),
          ]),
        ]}
      />
    </Card>
  );
}

function Setting({
  value,
  field,
}: {
  readonly value: ConfigValue;
  readonly field: ConfigField | undefined;
}): ReactNode {
  return (
    <li className="flex min-h-9 flex-wrap items-center gap-x-3 border-b border-line px-3 py-1.5 last:border-0">
      <code className="min-w-40 flex-1 break-all text-muted">{visibleText(value.path)}</code>
      <code className="max-w-[50%] min-w-0 break-all">{visibleText(JSON.stringify(value.value))}</code>
      <Badge tone={TONES[value.source]}>{value.source}</Badge>
      {field?.help !== null && field?.help !== undefined && <p className="w-full text-sm text-faint">{field.help}</p>}
    </li>
  );
}

/** By the path of a value: settings of a module are under its name. */
function helpsOf(schema: ConfigSchema | undefined): ReadonlyMap<string, ConfigField> {
  const own = (schema?.top_level ?? []).map((field) => [field.path, field] as const);
  const ofModules = (schema?.modules ?? []).flatMap(({ name, fields }) =>
    fields.map((field) => [`workers.${name}.${field.path}`, field] as const),
  );
  return new Map([...own, ...ofModules]);
}
