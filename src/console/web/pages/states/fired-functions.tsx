// Which functions a write to an entry fires (STA-7), shown before the write.

import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { TriggerRow } from '../../../api/registry.ts';
import { call } from '../../data/api.ts';
import { Shape } from '../../kit/feedback/status.tsx';
import { visibleText } from '../../kit/json/logic/visible-text.ts';
import { stateTriggersOf } from './logic/entry-changes.ts';

export function useStateTriggers(scope: string, key: string): readonly TriggerRow[] {
  const { data } = useQuery({
    queryKey: ['triggers', 'state'],
    queryFn: ({ signal }) => call('GET /triggers', { query: { type: 'state', limit: 1_000 }, signal }),
  });
  return stateTriggersOf(data?.items ?? [], scope, key);
}

export function FiredFunctions({ scope, itemKey }: { readonly scope: string; readonly itemKey: string }): ReactNode {
  const triggers = useStateTriggers(scope, itemKey);
  if (scope === '' || triggers.length === 0) return undefined;
  return (
    <p className="flex flex-wrap items-center gap-x-2 gap-y-1 text-sm text-warn">
      <Shape tone="warn" />
      Saving will fire {triggers.length} {triggers.length === 1 ? 'function' : 'functions'}:
      {triggers.map(({ id, function_id: functionId }) => (
        <Link key={id} to="/triggers" search={{ id }} className="font-mono text-accent hover:underline">
          {visibleText(functionId)}
        </Link>
      ))}
    </p>
  );
}
