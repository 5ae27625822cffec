// The progress of a long operation.

import type { ReactNode } from 'react';

export interface ProgressBarProps {
  readonly label: string;
  /** 0 to 1; undefined where the total is not known. */
  readonly share: number | undefined;
}

/** Drawn where the total is not known. */
const UNKNOWN_SHARE = 0.3;

export function ProgressBar({ label, share }: ProgressBarProps): ReactNode {
  return (
    <div
      role="progressbar"
      aria-label={label}
      aria-valuemin={0}
      aria-valuemax={100}
      {...(share !== undefined && { 'aria-valuenow': Math.round(share * 100) })}
      className="h-1.5 w-40 overflow-hidden rounded-full bg-ground"
    >
      <div className="h-full bg-accent-fill" style={{ width: `${(share ?? UNKNOWN_SHARE) * 100}%` }} />
    </div>
  );
}
