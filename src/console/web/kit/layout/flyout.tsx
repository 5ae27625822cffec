// A small panel that opens next to its button: settings, a form, help.

import { Popover } from 'radix-ui';
import type { ReactNode } from 'react';
import { classes } from './classes.ts';

export interface FlyoutProps {
  /** Its name for screen readers. */
  readonly label: string;
  readonly trigger: ReactNode;
  readonly children: ReactNode;
  readonly className?: string;
  readonly align?: 'start' | 'end';
  /** For pages that close it. Otherwise it opens and closes by itself. */
  readonly open?: boolean;
  readonly onOpenChange?: (open: boolean) => void;
}

export function Flyout({ label, trigger, children, className, align = 'end', ...state }: FlyoutProps): ReactNode {
  return (
    <Popover.Root {...state}>
      <Popover.Trigger asChild>{trigger}</Popover.Trigger>
      <Popover.Portal>
        <Popover.Content
          align={align}
          sideOffset={4}
          collisionPadding={8}
          aria-label={label}
          className={classes(
            'z-50 max-w-[calc(100vw-16px)] rounded-lg border border-line bg-raised p-3 text-sm shadow-float',
            className,
          )}
        >
          {children}
        </Popover.Content>
      </Popover.Portal>
    </Popover.Root>
  );
}
