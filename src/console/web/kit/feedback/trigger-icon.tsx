// How triggers look: an icon for each kind, with its name, and the method of an HTTP route in its colour (ACC-2: the
// name is enough).

import {
  CalendarClock,
  Database,
  Globe,
  ListOrdered,
  type LucideIcon,
  Megaphone,
  Radio,
  ScrollText,
  Zap,
} from 'lucide-react';
import type { ReactNode } from 'react';
import { visibleText } from '../json/logic/visible-text.ts';
import { classes } from '../layout/classes.ts';

const ICONS: Readonly<Record<string, LucideIcon>> = {
  http: Globe,
  cron: CalendarClock,
  queue: ListOrdered,
  durable: ListOrdered,
  event: Megaphone,
  subscribe: Megaphone,
  state: Database,
  stream: Radio,
  log: ScrollText,
};

export function TriggerIcon({ type }: { readonly type: string }): ReactNode {
  const known = Object.keys(ICONS).find((kind) => type.startsWith(kind));
  const Icon = (known === undefined ? undefined : ICONS[known]) ?? Zap;
  return <Icon size={14} role="img" aria-label={type} className="shrink-0 text-muted" />;
}

export function TriggerIcons({
  count,
  types,
}: {
  readonly count: number;
  readonly types: readonly string[];
}): ReactNode {
  return (
    <span className="flex items-center gap-1.5" title={types.join(', ')}>
      <span>{count}</span>
      {types.map((type) => (
        <TriggerIcon key={type} type={type} />
      ))}
    </span>
  );
}

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
