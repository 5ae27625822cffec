// Two entries side by side (STA-6).

import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { Loading } from '../../kit/feedback/empty-state.tsx';
import { ErrorCard } from '../../kit/feedback/error-card.tsx';
import { JsonDiff } from '../../kit/json/json-editor.tsx';
import { visibleText } from '../../kit/json/logic/visible-text.ts';
import { Sheet } from '../../kit/layout/overlays.tsx';
import { readItem } from './values.ts';

interface CompareDialogProps {
  readonly scope: string;
  readonly keys: readonly string[];
  readonly onClose: () => void;
}

export function CompareDialog({ scope, keys, onClose }: CompareDialogProps): ReactNode {
  const { data, error } = useQuery({
    queryKey: ['compare', scope, keys],
    queryFn: ({ signal }) => Promise.all(keys.map((key) => readItem(scope, key, signal))),
  });
  const [before, after] = data ?? [];
  return (
    <Sheet title="Compare" onClose={onClose}>
      <div className="grid grid-cols-2 gap-2 font-mono text-sm text-muted">
        {keys.map((key) => (
          <span key={key} className="truncate" title={visibleText(key)}>
            {visibleText(key)}
          </span>
        ))}
      </div>
      {data === undefined && error === null && <Loading what="both entries" rows={4} />}
      {error !== null && <ErrorCard error={error} what="Reading both entries" />}
      {before !== undefined && after !== undefined && (
        <JsonDiff label="Difference" before={before.text} after={after.text} />
      )}
      {before !== undefined && before.text === after?.text && <p className="text-muted">Both are the same.</p>}
    </Sheet>
  );
}
