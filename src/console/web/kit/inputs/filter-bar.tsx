// The filter of a page: a search field, which `/` focuses, and the filters that the page adds.

import { Search, X } from 'lucide-react';
import { type ReactNode, useEffect, useRef, useState } from 'react';
import { useKeys } from '../../app/keys.ts';
import { Input } from './field.tsx';

export interface FilterBarProps {
  /** "Search functions": also its name for screen readers. */
  readonly label: string;
  readonly value: string;
  readonly onChange: (value: string) => void;
  /** It searches what is shown: the browser's find keys focus it first (ACC-5). */
  readonly findsInView?: boolean;
  readonly children?: ReactNode;
}

/** The delay after typing before the address and the server get the text. */
const SETTLE_MS = 150;

/** On a phone it is one line that scrolls sideways, rather than four lines. */
const BESIDE =
  'contents max-sm:-m-0.5 max-sm:flex max-sm:w-full max-sm:gap-2 max-sm:overflow-x-auto max-sm:p-0.5 ' +
  'max-sm:empty:hidden max-sm:[&>*]:shrink-0';

export function FilterBar({ label, value, onChange, children }: FilterBarProps): ReactNode {
  return (
    <search className="flex min-w-0 flex-wrap items-center gap-2 max-sm:w-full">
      <SearchInput label={label} value={value} onChange={onChange} />
      <div className={BESIDE}>{children}</div>
    </search>
  );
}

export function SearchInput({
  label,
  value,
  onChange,
  findsInView = false,
}: Omit<FilterBarProps, 'children'>): ReactNode {
  const input = useRef<HTMLInputElement>(null);
  const [text, setText] = useState(value);
  const sent = useRef(value);
  // The address may change without typing: Back, a removed filter.
  useEffect(() => {
    if (value === sent.current) return;
    sent.current = value;
    setText(value);
  }, [value]);
  useEffect(() => {
    if (text === sent.current) return;
    const timer = setTimeout(() => {
      sent.current = text;
      onChange(text);
    }, SETTLE_MS);
    return () => clearTimeout(timer);
  }, [text, onChange]);
  const keys = findsInView ? ['/', 'mod+f'] : ['/'];
  useKeys([{ keys, name: label, run: () => input.current?.select() }]);
  return (
    <div className="relative w-64 max-w-full min-w-0 max-sm:w-full">
      <Search size={14} className="pointer-events-none absolute top-[7px] left-2 text-faint" />
      <Input
        ref={input}
        type="search"
        aria-label={label}
        placeholder={`${label}…`}
        value={text}
        onChange={(event) => setText(event.target.value)}
        onKeyDown={(event) => {
          if (event.key !== 'Escape') return;
          event.stopPropagation();
          if (text === '') event.currentTarget.blur();
          else setText('');
        }}
        className="w-full pr-7 pl-7 [&::-webkit-search-cancel-button]:hidden"
      />
      {text === '' ? (
        <kbd aria-hidden className="absolute top-[5px] right-2 text-xs text-faint">
          /
        </kbd>
      ) : (
        <button
          type="button"
          aria-label="Clear search"
          onClick={() => setText('')}
          className="absolute top-[5px] right-1.5 rounded-sm p-0.5 text-faint hover:text-text"
        >
          <X size={14} />
        </button>
      )}
    </div>
  );
}

/** A filter that is either on or off. */
export function Pill({
  label,
  on,
  onToggle,
}: {
  readonly label: ReactNode;
  readonly on: boolean;
  readonly onToggle: () => void;
}): ReactNode {
  return (
    <button
      type="button"
      aria-pressed={on}
      onClick={onToggle}
      className={
        'h-7 rounded-full border border-line px-3 text-sm whitespace-nowrap text-muted hover:border-line-strong ' +
        'hover:text-text aria-pressed:border-accent aria-pressed:bg-accent-soft aria-pressed:text-accent'
      }
    >
      {label}
    </button>
  );
}
