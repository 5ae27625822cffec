// The method of an HTTP route: its name in its colour (ACC-2: the name is enough).

import type { ReactNode } from 'react';
import { visibleText } from '../json/logic/visible-text.ts';
import { classes } from '../layout/classes.ts';

const COLOURS: Readonly<Record<string, string>> = {
  GET: 'bg-accent-soft text-accent',
  POST: 'bg-good-soft text-good',
  PUT: 'bg-warn-soft text-warn',
  PATCH: 'bg-warn-soft text-warn',
  DELETE: 'bg-bad-soft text-bad',
};

export function Method({ method }: { readonly method: string }): ReactNode {
  return (
    <span
      className={classes(
        'inline-flex h-[18px] min-w-11 shrink-0 items-center justify-center rounded-sm px-1 text-xs font-semibold',
        COLOURS[method] ?? 'bg-raised text-muted',
      )}
    >
      {visibleText(method)}
    </span>
  );
}
