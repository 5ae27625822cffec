// A severity as a word, with its own shape and colour (ACC-2).

import type { ReactNode } from 'react';
import { classes } from '../../kit/layout/classes.ts';

export const SEVERITIES = ['ERROR', 'WARN', 'INFO', 'DEBUG', 'TRACE'] as const;
export type SeverityWord = (typeof SEVERITIES)[number];

const LOOKS: Readonly<Record<SeverityWord, string>> = {
  ERROR: 'bg-bad-soft text-bad font-semibold',
  WARN: 'bg-warn-soft text-warn font-semibold',
  INFO: 'bg-accent-soft text-accent',
  DEBUG: 'bg-raised text-muted',
  TRACE: 'text-muted',
};

export function Severity({ text }: { readonly text: string }): ReactNode {
  const word = SEVERITIES.find((known) => known === text.toUpperCase());
  return (
    <span
      className={classes(
        'inline-flex h-[18px] w-12 shrink-0 items-center justify-center rounded-sm text-xs',
        word === undefined ? 'bg-raised text-muted' : LOOKS[word],
      )}
    >
      {text.toUpperCase()}
    </span>
  );
}
