// Cards and other surfaces.

import type { ReactNode } from 'react';
import { classes } from './classes.ts';

export interface CardProps {
  readonly title?: ReactNode;
  readonly actions?: ReactNode;
  readonly children: ReactNode;
  readonly className?: string;
  /** Without padding around its content, for tables and lists. */
  readonly flush?: boolean;
}

export function Card({ title, actions, children, className, flush = false }: CardProps): ReactNode {
  return (
    <section className={classes('flex min-w-0 flex-col rounded-lg border border-line bg-panel', className)}>
      {(title !== undefined || actions !== undefined) && (
        <header className="flex h-10 shrink-0 items-center gap-2 border-b border-line px-3">
          <h2 className="min-w-0 flex-1 truncate text-base font-semibold">{title}</h2>
          {actions}
        </header>
      )}
      <div className={classes('min-h-0 min-w-0 flex-1', !flush && 'p-3')}>{children}</div>
    </section>
  );
}

/** Names and values, one pair per row. */
export function Facts({ rows }: { readonly rows: readonly (readonly [name: string, value: ReactNode])[] }): ReactNode {
  return (
    <dl className="grid grid-cols-[minmax(96px,auto)_minmax(0,1fr)] gap-x-4 gap-y-1.5">
      {rows.map(([name, value]) => (
        <div key={name} className="contents">
          <dt className="text-muted">{name}</dt>
          <dd className="min-w-0 break-words">{value}</dd>
        </div>
      ))}
    </dl>
  );
}
