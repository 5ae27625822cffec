// Menus of actions.

import { DropdownMenu } from 'radix-ui';
import type { ReactNode } from 'react';
import { classes } from '../layout/classes.ts';

const CONTENT =
  'z-50 min-w-44 max-h-[min(420px,var(--radix-dropdown-menu-content-available-height))] overflow-y-auto rounded-lg ' +
  'border border-line bg-raised p-1 text-sm shadow-float';
const ITEM =
  'flex h-7 cursor-default items-center gap-2 rounded-md px-2 outline-none select-none data-[disabled]:opacity-50 ' +
  'data-[highlighted]:bg-accent-fill data-[highlighted]:text-on-accent';

export interface MenuItem {
  readonly label: string;
  readonly icon?: ReactNode;
  readonly run: () => void;
  readonly disabled?: boolean;
  readonly danger?: boolean;
}

export interface MenuProps {
  readonly trigger: ReactNode;
  readonly items: readonly (MenuItem | 'line')[];
  readonly align?: 'start' | 'end';
}

export function Menu({ trigger, items, align = 'end' }: MenuProps): ReactNode {
  return (
    <DropdownMenu.Root>
      <DropdownMenu.Trigger asChild>{trigger}</DropdownMenu.Trigger>
      <DropdownMenu.Portal>
        <DropdownMenu.Content align={align} sideOffset={4} collisionPadding={8} className={CONTENT}>
          {items.map((item, at) =>
            item === 'line' ? (
              <DropdownMenu.Separator key={LINE_KEYS[at]} className="my-1 h-px bg-line" />
            ) : (
              <DropdownMenu.Item
                key={item.label}
                disabled={item.disabled ?? false}
                onSelect={item.run}
                className={classes(ITEM, item.danger === true && 'text-bad')}
              >
                {item.icon}
                {item.label}
              </DropdownMenu.Item>
            ),
          )}
        </DropdownMenu.Content>
      </DropdownMenu.Portal>
    </DropdownMenu.Root>
  );
}

const LINE_KEYS = Array.from({ length: 40 }, (_none, at) => `line-${at}`);
