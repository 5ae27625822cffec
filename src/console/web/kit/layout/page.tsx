// The frame of a page: its title, its filter, its content, and the detail next to it. Also the cards and lists of names
// and values inside it, and whether two panels fit next to each other (APP-13).

import { type ReactNode, useEffect, useSyncExternalStore } from 'react';
import { PanelBoundary } from '../feedback/error-card.tsx';
import { classes } from './classes.ts';

export interface PageProps {
  readonly title: string;
  /** Next to the title: a count, a rate. */
  readonly note?: ReactNode;
  /** At the right: live switch, actions. */
  readonly actions?: ReactNode;
  /** Filters, below. */
  readonly toolbar?: ReactNode;
  readonly detail?: ReactNode;
  /** The content scrolls as a whole. Without it, the content (a table) fills the page and scrolls by itself. */
  readonly scrolls?: boolean;
  readonly children: ReactNode;
}

export function Page({ title, note, actions, toolbar, detail, scrolls = false, children }: PageProps): ReactNode {
  useEffect(() => {
    document.title = `${title} · svc console`;
  }, [title]);
  return (
    <div className="flex h-full min-h-0 min-w-0 flex-col">
      <header className="flex min-h-12 shrink-0 flex-wrap items-center gap-x-3 gap-y-1 border-b border-line px-4 py-2">
        <h1 className="text-lg font-semibold">{title}</h1>
        {note !== undefined && <div className="max-w-full min-w-0 truncate text-sm text-muted">{note}</div>}
        {actions !== undefined && (
          <div className="ml-auto flex flex-wrap items-center justify-end gap-2">{actions}</div>
        )}
      </header>
      {toolbar !== undefined && toolbar !== false && (
        <div className="flex shrink-0 flex-wrap items-center gap-2 border-b border-line px-4 py-2">{toolbar}</div>
      )}
      <div className="flex min-h-0 min-w-0 flex-1">
        <div className={scrolls ? 'min-w-0 flex-1 overflow-y-auto' : 'min-h-0 min-w-0 flex-1'}>
          <PanelBoundary name={title}>{children}</PanelBoundary>
        </div>
        {detail}
      </div>
    </div>
  );
}

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
export function Properties({
  rows,
}: {
  readonly rows: readonly (readonly [name: string, value: ReactNode])[];
}): ReactNode {
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

const wide = matchMedia('(min-width: 1024px)');

export function useWide(): boolean {
  return useSyncExternalStore(
    (heard) => {
      wide.addEventListener('change', heard);
      return () => wide.removeEventListener('change', heard);
    },
    () => wide.matches,
  );
}
