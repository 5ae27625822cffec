// The subscribers of a group (STR-3). There is no topic for them, so they are polled.

import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { call } from '../../data/api.ts';
import { Time } from '../../kit/charts/time.tsx';
import { formatBytes, formatCount } from '../../kit/charts/times.ts';
import { CopyId } from '../../kit/inputs/copy.tsx';
import { visibleText } from '../../kit/json/logic/visible-text.ts';

export function Subscribers({ stream, group }: { readonly stream: string; readonly group: string }): ReactNode {
  const { data } = useQuery({
    queryKey: ['stream-subscribers', stream, group],
    queryFn: ({ signal }) => call('GET /streams/{stream}/{group}/subscribers', { parts: { stream, group }, signal }),
    refetchInterval: 3_000,
  });
  if (data === undefined) return undefined;
  return (
    <section aria-label="Subscribers" className="max-h-48 shrink-0 overflow-y-auto border-t border-line">
      <h2 className="px-4 py-2 text-sm font-medium">
        Subscribers <span className="text-muted">{formatCount(data.items.length)}</span>
      </h2>
      {data.items.length === 0 && <p className="px-4 pb-2 text-sm text-muted">This group has no subscribers.</p>}
      <ul>
        {data.items.map(({ id, address, since, buffered_bytes: buffered, item }) => (
          <li key={id} className="flex flex-wrap items-center gap-x-4 border-t border-line px-4 py-1 text-sm">
            <CopyId id={id} what="subscriber id" />
            <span className="font-mono text-muted">{address ?? '–'}</span>
            <span>
              since <Time ms={since} />
            </span>
            <span className={buffered > 0 ? 'text-warn' : 'text-muted'}>{formatBytes(buffered)} buffered</span>
            {item !== null && <span className="text-muted">only item {visibleText(item)}</span>}
          </li>
        ))}
      </ul>
    </section>
  );
}
