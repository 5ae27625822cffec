// What the parts of a trigger's detail share.

import type { ReactNode } from 'react';
import type { TriggerDetail } from '../../../../console-api/registry.ts';

export interface KindPanelProps {
  readonly detail: TriggerDetail;
  /** Firing is disabled here. */
  readonly readOnly: boolean;
  /** Reads the firings again. */
  readonly fired: () => void;
}

export function Section({ title, children }: { readonly title: string; readonly children: ReactNode }): ReactNode {
  return (
    <section aria-label={title} className="flex min-w-0 flex-col gap-2">
      <h3 className="text-sm font-semibold text-muted">{title}</h3>
      {children}
    </section>
  );
}
