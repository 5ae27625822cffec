// Removes everything of one kind that the engine has stored, after the user confirmed it.

import { type ReactNode, useState } from 'react';
import { useReadOnly } from '../../data/console-info.ts';
import { call } from '../../data/routes.ts';
import { ConfirmDialog } from '../feedback/confirm.tsx';
import { Button } from './button.tsx';

export interface ClearAllProps {
  readonly what: 'logs' | 'traces';
  readonly onCleared: () => void;
  /** What is removed, and what stays. */
  readonly children: ReactNode;
}

export function ClearAll({ what, onCleared, children }: ClearAllProps): ReactNode {
  const [isAsking, setAsking] = useState(false);
  if (useReadOnly()) return undefined;
  return (
    <>
      <Button look="ghost" onClick={() => setAsking(true)}>
        Clear all
      </Button>
      <ConfirmDialog
        open={isAsking}
        onClose={() => setAsking(false)}
        title={`Clear all ${what}?`}
        action={`Clear all ${what}`}
        run={async () => {
          await call(`DELETE /${what}`);
          onCleared();
        }}
      >
        {children}
      </ConfirmDialog>
    </>
  );
}
