// Find in a list whose rows are mostly not in the document, where the browser's own find would miss them (ACC-5).
// Pressing its keys again in the field opens the browser's find.

import { ChevronDown, ChevronUp, X } from 'lucide-react';
import { type ReactNode, type RefObject, useEffect, useRef, useState } from 'react';
import { useKeys } from '../../app/keys.ts';
import { formatCount } from '../charts/times.ts';
import { Announce } from '../feedback/live-changes.tsx';
import { inSlices } from '../layout/slices.ts';
import { IconButton } from './button.tsx';
import { Input } from './field.tsx';

export interface ListFind {
  readonly isOpen: boolean;
  readonly text: string;
  /** The result; empty while there is no search. */
  readonly words: string;
  readonly set: (text: string) => void;
  readonly step: (by: 1 | -1) => void;
  readonly close: () => void;
}

export interface ListFindOptions {
  readonly count: number;
  /** The searchable text of a row. */
  readonly textOf: (at: number) => string;
  readonly active: number;
  readonly go: (to: number) => void;
  /** Some rows are not in the document. */
  readonly isLong: boolean;
}

const ROWS_A_STEP = 500;

export function useListFind({ count, textOf, active, go, isLong }: ListFindOptions): ListFind {
  const [isOpen, setOpen] = useState(false);
  const [text, setText] = useState('');
  const [words, setWords] = useState('');
  const stop = useRef<() => void>(undefined);
  useEffect(() => () => stop.current?.(), []);
  useKeys([{ keys: ['mod+f'], name: 'Find in the list', run: () => setOpen(true) }], isLong || isOpen);
  const look = (wanted: string, from: number, by: 1 | -1): void => {
    stop.current?.();
    if (wanted === '') return setWords('');
    const search = rowSearch(count, textOf, { wanted, from, by });
    stop.current = inSlices(
      () => search.look(ROWS_A_STEP),
      () => {
        const { found } = search;
        if (found !== undefined) go(found);
        const where = `${formatCount(count)} loaded rows`;
        setWords(found === undefined ? `Not in ${where}` : `Row ${formatCount(found + 1)} of ${where}`);
      },
    );
  };
  return {
    isOpen,
    text,
    words,
    set(next) {
      setText(next);
      look(next, active, 1);
    },
    step: (by) => look(text, active + by, by),
    close() {
      stop.current?.();
      setOpen(false);
    },
  };
}

interface Search {
  readonly found: number | undefined;
  /** Examines that many rows. Returns whether there are more. */
  look(rows: number): boolean;
}

/** Once around, starting from one row. */
function rowSearch(
  count: number,
  textOf: (at: number) => string,
  { wanted, from, by }: { readonly wanted: string; readonly from: number; readonly by: 1 | -1 },
): Search {
  const lower = wanted.toLowerCase();
  let looked = 0;
  let found: number | undefined;
  return {
    get found() {
      return found;
    },
    look(rows) {
      const to = Math.min(looked + rows, count);
      for (; looked < to; looked++) {
        const at = (((from + looked * by) % count) + count) % count;
        if (!textOf(at).toLowerCase().includes(lower)) continue;
        found = at;
        return false;
      }
      return looked < count;
    },
  };
}

export function FindBar({
  find,
  scroller,
}: {
  readonly find: ListFind;
  readonly scroller: RefObject<HTMLElement | null>;
}): ReactNode {
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => field.current?.focus(), []);
  const close = (): void => {
    find.close();
    scroller.current?.focus({ preventScroll: true });
  };
  return (
    <search
      aria-label="Find in the list"
      className="flex shrink-0 items-center gap-1 border-b border-line px-2 py-1 text-sm"
    >
      <Input
        ref={field}
        aria-label="Text to find"
        placeholder="Find in the list…"
        value={find.text}
        className="h-6 w-56 text-sm"
        onChange={(event) => find.set(event.target.value)}
        onKeyDown={(event) => {
          if (event.key === 'Enter') find.step(event.shiftKey ? -1 : 1);
          if (event.key !== 'Escape') return;
          event.stopPropagation();
          close();
        }}
      />
      <IconButton label="Previous match" onClick={() => find.step(-1)}>
        <ChevronUp size={14} />
      </IconButton>
      <IconButton label="Next match" onClick={() => find.step(1)}>
        <ChevronDown size={14} />
      </IconButton>
      <span aria-hidden="true" className="text-muted">
        {find.words}
      </span>
      <Announce text={find.words} />
      <span className="flex-1" />
      <IconButton label="Close the search" onClick={close}>
        <X size={14} />
      </IconButton>
    </search>
  );
}
