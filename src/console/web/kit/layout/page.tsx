// The frame of a page: its title, its filter, its content, and the detail next to it.

import { type ReactNode, useEffect } from 'react';
import { PanelBoundary } from '../feedback/error-card.tsx';

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
