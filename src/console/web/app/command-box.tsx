// A search field with the entries that it finds: the base of the palette.

import { Command } from 'cmdk';
import { type ReactNode, useRef } from 'react';
import { visibleText } from '../kit/json/logic/visible-text.ts';
import { PALETTE_INPUT } from './palette-coming.tsx';

const GROUP =
  '[&_[cmdk-group-heading]]:px-2 [&_[cmdk-group-heading]]:pt-2 [&_[cmdk-group-heading]]:pb-1 ' +
  '[&_[cmdk-group-heading]]:text-xs [&_[cmdk-group-heading]]:font-medium [&_[cmdk-group-heading]]:text-muted';
const ITEM =
  'flex h-8 items-center gap-3 rounded-md px-2 data-[selected=true]:bg-accent-fill ' +
  'data-[selected=true]:text-on-accent [&[data-selected=true]_*]:text-on-accent';

export interface CommandBoxProps {
  readonly label: string;
  readonly placeholder?: string;
  readonly text: string;
  readonly setText: (text: string) => void;
  /** Shown where there are no entries. */
  readonly empty: string;
  readonly children: ReactNode;
}

export function CommandBox({ label, placeholder = label, text, setText, empty, children }: CommandBoxProps): ReactNode {
  const list = useRef<HTMLDivElement>(null);
  return (
    <Command label={label} loop shouldFilter={false}>
      <Command.Input
        autoFocus
        value={text}
        onValueChange={(value) => [setText(value), list.current?.scrollTo(0, 0)]}
        placeholder={placeholder}
        className={PALETTE_INPUT}
      />
      <Command.List ref={list} className={`max-h-[56dvh] overflow-y-auto p-2 ${GROUP}`}>
        <Command.Empty className="p-6 text-center text-muted">{empty}</Command.Empty>
        {children}
      </Command.List>
    </Command>
  );
}

export interface ItemProps {
  readonly value: string;
  readonly name: string;
  readonly note?: string | undefined;
  readonly run: () => void;
}

export function Item({ value, name, note, run }: ItemProps): ReactNode {
  return (
    <Command.Item value={value} onSelect={run} className={ITEM}>
      <span className="min-w-0 flex-1 truncate">{visibleText(name)}</span>
      {note !== undefined && (
        <span className="max-w-[40%] shrink-0 truncate text-sm text-faint">{visibleText(note)}</span>
      )}
    </Command.Item>
  );
}
