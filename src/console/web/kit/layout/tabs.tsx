// Tabs whose selection is in the address.

import { Unplug } from 'lucide-react';
import { Tabs as Primitive } from 'radix-ui';
import type { ReactNode } from 'react';
import { formatCount } from '../charts/times.ts';
import { classes } from './classes.ts';

export interface Tab<Id extends string> {
  readonly id: Id;
  readonly label: string;
  readonly count?: number | undefined;
  /** Why the tab is not available: it is shown as such, and its content explains why. */
  readonly missing?: string;
}

export interface TabsProps<Id extends string> {
  readonly label: string;
  readonly tabs: readonly Tab<Id>[];
  readonly value: Id;
  readonly onChange: (id: Id) => void;
  /** The content of the selected tab. */
  readonly children: ReactNode;
}

export function Tabs<Id extends string>({ label, tabs, value, onChange, children }: TabsProps<Id>): ReactNode {
  return (
    <Primitive.Root
      value={value}
      onValueChange={(id) => onChange(tabs.find((tab) => tab.id === id)?.id ?? value)}
      activationMode="manual"
      className="flex min-h-0 min-w-0 flex-1 flex-col"
    >
      <Primitive.List
        aria-label={label}
        className="flex shrink-0 gap-1 overflow-x-auto border-b border-line px-2 [scrollbar-width:none]"
      >
        {tabs.map((tab) => (
          <Primitive.Trigger
            key={tab.id}
            value={tab.id}
            title={tab.missing}
            className={classes(
              'flex h-9 items-center gap-1.5 border-b-2 border-transparent px-2 text-sm whitespace-nowrap',
              '-outline-offset-2 hover:text-text data-[state=active]:border-accent data-[state=active]:text-text',
              tab.missing === undefined ? 'text-muted' : 'text-faint italic',
            )}
          >
            {tab.label}
            {tab.count !== undefined && <span className="text-xs text-faint">{formatCount(tab.count)}</span>}
            {tab.missing !== undefined && <Unplug size={12} role="img" aria-label="not available" />}
          </Primitive.Trigger>
        ))}
      </Primitive.List>
      <Primitive.Content value={value} className="min-h-0 min-w-0 flex-1" tabIndex={-1}>
        {children}
      </Primitive.Content>
    </Primitive.Root>
  );
}
