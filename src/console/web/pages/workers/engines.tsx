// The engines of the cluster, above the workers of this one (WRK-2). Nothing where the engine is alone.

import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { call } from '../../data/api.ts';
import { formatCount } from '../../kit/charts/times.ts';
import { WordStatus } from '../../kit/feedback/status.tsx';
import { CopyId } from '../../kit/inputs/copy.tsx';

const EVERY_MS = 5_000;
const COLUMNS = ['Engine', 'State', 'Address', 'Zone', 'Workers', 'Functions', 'In flight', 'Version'];

export function Engines(): ReactNode {
  const { data } = useQuery({
    queryKey: ['engines'],
    queryFn: async ({ signal }) => (await call('GET /status', { signal })).cluster,
    refetchInterval: EVERY_MS,
  });
  if (data === undefined || data === null) return null;
  const { engines, trouble } = data;
  return (
    <section aria-label="Engines" className="max-h-48 shrink-0 overflow-auto border-b border-line px-4 py-2">
      {trouble !== undefined && <p className="pb-1 text-sm text-warn">{trouble}</p>}
      <table className="w-full text-left text-sm whitespace-nowrap">
        <thead>
          <tr className="text-xs text-muted">
            {COLUMNS.map((name) => (
              <th key={name} scope="col" className="pr-4 font-medium">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {engines.map(({ id, status, address, zone, workers, functions, calls, version }) => (
            <tr key={id}>
              <td className="pr-4">
                <CopyId id={id} what="the id" />
              </td>
              <td className="pr-4">
                <WordStatus word={status === 'here' ? 'active' : status} title={STATES[status]} />
                {status === 'here' && <span className="pl-2 text-muted">this one</span>}
              </td>
              <td className="pr-4 font-mono">{address}</td>
              <td className="pr-4">{zone ?? '–'}</td>
              <td className="pr-4 tabular-nums">{workers === undefined ? '–' : formatCount(workers.connected)}</td>
              <td className="pr-4 tabular-nums">{formatCount(functions)}</td>
              <td className="pr-4 tabular-nums">{formatCount(calls)}</td>
              <td>{version}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

const STATES = {
  here: 'This engine',
  up: 'Calls reach it',
  draining: 'It stops: it is the last choice for calls',
  unreachable: 'It is alive, and this engine has no connection to it',
} as const;
