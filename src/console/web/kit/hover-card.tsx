// What is shown while the pointer rests on something. Lists have hundreds of such things: until the pointer is there,
// each costs two handlers and nothing else.

import { Popover } from 'radix-ui';
import { type PointerEventHandler, type ReactNode, type RefObject, useRef, useState } from 'react';

const OPEN_MS = 350;
const CLOSE_MS = 100;

export interface HoverState {
  readonly isOpen: boolean;
  readonly close: () => void;
  /** For the thing itself and for its card: the pointer may go from the one to the other. */
  readonly handlers: { readonly onPointerEnter: PointerEventHandler; readonly onPointerLeave: PointerEventHandler };
}

export function useHover(): HoverState {
  const [isOpen, setOpen] = useState(false);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const turn = (to: boolean, afterMs: number): void => {
    clearTimeout(timer.current);
    timer.current = setTimeout(setOpen, afterMs, to);
  };
  return {
    isOpen,
    close: () => setOpen(false),
    handlers: {
      // A finger that touches does not rest.
      onPointerEnter: (event) => event.pointerType !== 'touch' && turn(true, OPEN_MS),
      onPointerLeave: () => turn(false, CLOSE_MS),
    },
  };
}

export interface HoverCardProps {
  /** What a screen reader calls it. */
  readonly label: string;
  readonly anchor: RefObject<HTMLElement | null>;
  readonly hover: HoverState;
  readonly children: ReactNode;
}

/** To be drawn while `hover.isOpen`. */
export function HoverCard({ label, anchor, hover, children }: HoverCardProps): ReactNode {
  return (
    <Popover.Root open onOpenChange={hover.close}>
      <Popover.Anchor virtualRef={anchor} />
      <Popover.Portal>
        <Popover.Content
          {...hover.handlers}
          align="start"
          sideOffset={6}
          aria-label={label}
          className="z-40 rounded-lg border border-line bg-raised p-3 text-sm shadow-float"
          // The pointer is what opened it: the focus stays where it is.
          onOpenAutoFocus={(event) => event.preventDefault()}
          onCloseAutoFocus={(event) => event.preventDefault()}
        >
          {children}
        </Popover.Content>
      </Popover.Portal>
    </Popover.Root>
  );
}
