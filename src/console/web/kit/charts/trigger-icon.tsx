// Icons of the kinds of triggers, with their names.

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
