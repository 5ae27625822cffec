// The number of new rows that wait above a held list (LIV-3, LIV-4).

import type { ReactNode } from 'react';
import { formatCount } from '../../../kit/charts/times.ts';
import { Button } from '../../../kit/inputs/button.tsx';

export interface WaitingProps {
  readonly count: number;
  readonly dropped: number;
  readonly release: () => void;
}

export function Waiting({ count, dropped, release }: WaitingProps): ReactNode {
  if (count === 0) return undefined;
  return (
    <div className="pointer-events-none absolute inset-x-0 top-2 z-20 flex justify-center">
      <Button look="primary" className="pointer-events-auto rounded-full shadow-float" onClick={release}>
        Jump to newest (+{formatCount(count)}){dropped > 0 && `, ${formatCount(dropped)} dropped while paused`}
      </Button>
    </div>
  );
}
