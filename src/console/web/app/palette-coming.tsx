// Shown in place of the palette while it loads for the first time. Typed text becomes the palette's first text, and
// does not reach the keys of the page below.

import { type ReactNode, type RefObject, useLayoutEffect, useState } from 'react';

export const PALETTE_FRAME =
  'fixed top-[12vh] left-1/2 z-50 w-[600px] max-w-[calc(100vw-32px)] -translate-x-1/2 overflow-hidden rounded-lg ' +
  'border border-line bg-panel shadow-float';
export const PALETTE_INPUT = 'h-12 w-full border-b border-line bg-transparent px-4 text-lg -outline-offset-2';

interface PaletteComingProps {
  readonly typed: RefObject<string>;
  readonly onClose: () => void;
}

export function PaletteComing({ typed, onClose }: PaletteComingProps): ReactNode {
  const [before] = useState(() => document.activeElement);
  // The palette, or closing this, returns the focus to where it was.
  useLayoutEffect(() => {
    return () => {
      if (before instanceof HTMLElement) before.focus();
    };
  }, [before]);
  return (
    <div className={PALETTE_FRAME}>
      <input
        // biome-ignore lint/a11y/noAutofocus: a user who opened it with its key continues to type
        autoFocus
        aria-label="Search and commands"
        className={PALETTE_INPUT}
        onChange={({ target }) => {
          typed.current = target.value;
        }}
        onKeyDown={({ key }) => key === 'Escape' && onClose()}
      />
    </div>
  );
}
