// Buttons. A view has one primary button at most.

import type { ComponentProps, ReactNode } from 'react';
import { classes } from '../layout/classes.ts';

type Look = 'default' | 'primary' | 'danger' | 'ghost';

const LOOKS: Readonly<Record<Look, string>> = {
  default: 'border border-line bg-raised text-text hover:bg-hover hover:border-line-strong',
  primary: 'border border-transparent bg-accent-fill text-on-accent hover:bg-accent-fill-hover',
  danger: 'border border-transparent bg-bad-fill text-on-accent hover:brightness-110',
  ghost: 'border border-transparent text-muted hover:bg-hover hover:text-text',
};

const BASE =
  'inline-flex h-7 shrink-0 items-center justify-center gap-1.5 rounded-md text-sm font-medium ' +
  'whitespace-nowrap select-none disabled:cursor-not-allowed disabled:opacity-50 aria-disabled:opacity-50';

export interface ButtonProps extends ComponentProps<'button'> {
  readonly look?: Look;
  /** Shown before the text, or alone with a `label`. */
  readonly icon?: ReactNode;
}

export function Button({ look = 'default', icon, children, className, ...rest }: ButtonProps): ReactNode {
  return (
    <button type="button" {...rest} className={classes(BASE, 'px-2.5', LOOKS[look], className)}>
      {icon}
      {children}
    </button>
  );
}

export interface IconButtonProps extends Omit<ButtonProps, 'children' | 'icon'> {
  /** Its name, which is also shown on hover. */
  readonly label: string;
  /** The key that does the same, shown with the name. */
  readonly hint?: string;
  readonly children: ReactNode;
}

export function IconButton({ label, hint, look = 'ghost', className, children, ...rest }: IconButtonProps): ReactNode {
  return (
    <button
      type="button"
      aria-label={label}
      title={hint === undefined ? label : `${label} (${hint})`}
      {...rest}
      className={classes(BASE, LOOKS[look], className ?? 'w-7')}
    >
      {children}
    </button>
  );
}
