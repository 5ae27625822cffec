// What a queue shows whose jobs are held back, because its store went back in time (R7).

import type { ReactNode } from 'react';
import { Badge } from '../../kit/feedback/status.tsx';

export function HeldBack({ reason }: { readonly reason: string | null }): ReactNode {
  if (reason === null) return undefined;
  return (
    <Badge tone="bad" title={reason}>
      held back
    </Badge>
  );
}

/** Above the list: what is wrong, and the command that continues. */
export function HeldBackNote({ reasons }: { readonly reasons: readonly (string | null)[] }): ReactNode {
  const reason = reasons.find((one) => one !== null);
  if (reason === undefined) return undefined;
  return (
    <p role="alert" className="border-b border-line bg-bad-soft px-4 py-2 text-sm text-bad">
      {reason}
    </p>
  );
}
