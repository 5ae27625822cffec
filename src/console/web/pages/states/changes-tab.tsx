// The changes of an entry since it was opened: the last 50, one at a time (STA-4).

import { ChevronLeft, ChevronRight } from 'lucide-react';
import { type ReactNode, useState } from 'react';
import { Time } from '../../kit/charts/time.tsx';
import { EmptyState } from '../../kit/feedback/empty-state.tsx';
import { IconButton } from '../../kit/inputs/button.tsx';
import { JsonDiff } from '../../kit/json/json-editor.tsx';
import type { ValueChange } from './logic/value-changes.ts';

export function ChangesTab({ changes }: { readonly changes: readonly ValueChange[] }): ReactNode {
  // Undefined follows the newest.
  const [chosen, setChosen] = useState<number>();
  const last = changes.length - 1;
  const at = Math.min(chosen ?? last, last);
  const change = changes[at];
  if (change === undefined) {
    return (
      <EmptyState title="No change yet">
        <p>While this entry is open, each change is listed here with the value before it.</p>
      </EmptyState>
    );
  }
  const go = (to: number): void => setChosen(to >= last ? undefined : Math.max(0, to));
  return (
    <div className="flex flex-col gap-3 p-3">
      <div className="flex flex-wrap items-center gap-2 text-sm">
        <IconButton label="Earlier change" disabled={at === 0} onClick={() => go(at - 1)}>
          <ChevronLeft size={15} />
        </IconButton>
        <span className="tabular-nums">
          {at + 1} of {changes.length}
        </span>
        <IconButton label="Later change" disabled={at === last} onClick={() => go(at + 1)}>
          <ChevronRight size={15} />
        </IconButton>
        <Time ms={change.atMs} className="text-muted" />
        {change.before === undefined && <span className="text-good">created</span>}
        {change.after === undefined && <span className="text-bad">deleted</span>}
        {change.writes > 1 && (
          <span className="text-warn">{change.writes} writes in one step: too quick to tell apart</span>
        )}
      </div>
      <JsonDiff label="Change" before={change.before ?? ''} after={change.after ?? ''} />
    </div>
  );
}
