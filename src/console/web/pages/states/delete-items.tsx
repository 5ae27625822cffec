// Deletes entries: one after a confirmation, several after their number was typed (STA-6).

import type { ReactNode } from 'react';
import { call } from '../../data/api.ts';
import { refetchSoon } from '../../data/queries.ts';
import { formatCount } from '../../kit/charts/times.ts';
import { ConfirmDialog } from '../../kit/feedback/confirm.tsx';
import { visibleText } from '../../kit/json/logic/visible-text.ts';
import { eachOf } from '../queues/logic/each-of.ts';

interface DeleteDialogProps {
  readonly scope: string;
  readonly keys: readonly string[];
  /** Only of a single entry: the deletion is refused when the entry has changed since. */
  readonly version?: string;
  readonly onClose: () => void;
}

const SHOWN = 8;

export function DeleteDialog({ scope, keys, version, onClose }: DeleteDialogProps): ReactNode {
  const count = formatCount(keys.length);
  const run = async (): Promise<void> => {
    const query = version === undefined ? {} : { if_version: version };
    const failures = await eachOf(keys, (key) =>
      call('DELETE /states/{scope}/items/{key}', { parts: { scope, key }, query }),
    );
    refetchSoon(['states', scope]);
    refetchSoon(['scopes']);
    const [first] = failures;
    if (first !== undefined) throw first;
  };
  return (
    <ConfirmDialog
      open
      onClose={onClose}
      title={keys.length === 1 ? 'Delete this entry?' : `Delete ${count} entries?`}
      action={keys.length === 1 ? 'Delete' : `Delete ${count} entries`}
      {...(keys.length > 1 && { typed: String(keys.length) })}
      run={run}
    >
      <p>This cannot be undone. Triggers on the deletion fire.</p>
      <ul className="mt-2 max-h-40 overflow-y-auto font-mono text-sm text-text">
        {keys.slice(0, SHOWN).map((key) => (
          <li key={key} className="truncate">
            {visibleText(key)}
          </li>
        ))}
        {keys.length > SHOWN && <li className="font-sans text-muted">and {formatCount(keys.length - SHOWN)} more</li>}
      </ul>
    </ConfirmDialog>
  );
}
