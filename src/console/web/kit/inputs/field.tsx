// Form fields: a label, a value that is edited, and a message where it is wrong.

import { type ComponentProps, type ReactNode, useId } from 'react';
import { classes } from '../layout/classes.ts';

export const FIELD =
  'h-7 min-w-0 rounded-md border border-line bg-ground px-2 text-base text-text hover:border-line-strong ' +
  'aria-[invalid=true]:border-bad disabled:opacity-60';

export function Input({ className, ...rest }: ComponentProps<'input'>): ReactNode {
  return <input spellCheck={false} autoComplete="off" {...rest} className={classes(FIELD, className)} />;
}

/** An input that suggests known values. Any other text may be typed as well. */
export function SuggestInput({
  options,
  ...rest
}: Omit<ComponentProps<'input'>, 'list'> & { readonly options: readonly string[] }): ReactNode {
  const id = useId();
  return (
    <>
      <Input {...rest} list={id} />
      <datalist id={id}>
        {options.map((value) => (
          <option key={value} value={value} />
        ))}
      </datalist>
    </>
  );
}

export function Select({ className, children, ...rest }: ComponentProps<'select'>): ReactNode {
  return (
    <select {...rest} className={classes(FIELD, 'pr-1', className)}>
      {children}
    </select>
  );
}

export interface FieldProps {
  readonly label: string;
  readonly hint?: ReactNode;
  readonly error?: string | undefined;
  readonly className?: string;
  /** Gets the id that connects it to its label. */
  readonly children: (ids: { readonly id: string; readonly 'aria-describedby'?: string }) => ReactNode;
}

export function Field({ label, hint, error, className, children }: FieldProps): ReactNode {
  const id = useId();
  const note = `${id}-note`;
  const hasNote = hint !== undefined || error !== undefined;
  return (
    <div className={classes('flex min-w-0 flex-col gap-1', className)}>
      <label htmlFor={id} className="text-xs font-medium text-muted">
        {label}
      </label>
      {children({ id, ...(hasNote && { 'aria-describedby': note }) })}
      {hasNote && (
        <p id={note} className={classes('text-xs', error === undefined ? 'text-faint' : 'text-bad')}>
          {error ?? hint}
        </p>
      )}
    </div>
  );
}

export interface ToggleProps {
  readonly label: string;
  readonly checked: boolean;
  readonly onChange: (checked: boolean) => void;
  readonly disabled?: boolean;
}

/** A switch with its label. */
export function Toggle({ label, checked, onChange, disabled = false }: ToggleProps): ReactNode {
  return (
    <button
      type="button"
      role="switch"
      aria-checked={checked}
      disabled={disabled}
      onClick={() => onChange(!checked)}
      className="inline-flex h-7 items-center gap-2 rounded-md text-sm text-muted hover:text-text disabled:opacity-50"
    >
      <span
        aria-hidden
        className={classes(
          'relative h-4 w-7 rounded-full border',
          checked ? 'border-accent-fill bg-accent-fill' : 'border-line-strong bg-raised',
        )}
      >
        <span
          className={classes(
            'absolute top-[2px] size-2.5 rounded-full transition-[left]',
            checked ? 'left-[14px] bg-on-accent' : 'left-[2px] bg-muted',
          )}
        />
      </span>
      {label}
    </button>
  );
}

export interface SegmentsProps<T extends string> {
  readonly label: string;
  readonly value: T;
  readonly choices: readonly { readonly value: T; readonly label: ReactNode }[];
  readonly onChange: (value: T) => void;
}

/** Touch needs more height than a pointer. */
const SEGMENTS = 'inline-flex h-7 shrink-0 rounded-md border border-line bg-ground p-[2px] [@media(hover:none)]:h-8';

/** A choice among a few options, all visible. */
export function Segments<T extends string>({ label, value, choices, onChange }: SegmentsProps<T>): ReactNode {
  return (
    <fieldset aria-label={label} className={SEGMENTS}>
      {choices.map((choice) => (
        <button
          key={choice.value}
          type="button"
          aria-pressed={choice.value === value}
          onClick={() => onChange(choice.value)}
          className={classes(
            'rounded-sm px-2 text-sm whitespace-nowrap',
            choice.value === value ? 'bg-raised font-medium text-text' : 'text-muted hover:text-text',
          )}
        >
          {choice.label}
        </button>
      ))}
    </fieldset>
  );
}
