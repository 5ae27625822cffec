// A card that is shown while the pointer rests on an element. Lists have hundreds of such elements: until the pointer
// arrives, each costs only two handlers.

import { Popover } from 'radix-ui';
import { type PointerEventHandler, type ReactNode, type RefObject, useRef, useState } from 'react';

const OPEN_MS = 350;
const CLOSE_MS = 100;

export interface HoverState {
  readonly isOpen: boolean;
  readonly close: () => void;
  /** For the element and for its card: the pointer may move from one to the other. */
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
      // Touch has no hover.
      onPointerEnter: (event) => event.pointerType !== 'touch' && turn(true, OPEN_MS),
      onPointerLeave: () => turn(false, CLOSE_MS),
    },
  };
}

export interface HoverCardProps {
  /** Its name for screen readers. */
  readonly label: string;
  readonly anchor: RefObject<HTMLElement | null>;
  readonly hover: HoverState;
  readonly children: ReactNode;
}

/** Draw it while `hover.isOpen`. */
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
          // The pointer opened it: the focus stays where it is.
          onOpenAutoFocus={(event) => event.preventDefault()}
          onCloseAutoFocus={(event) => event.preventDefault()}
        >
          {children}
        </Popover.Content>
      </Popover.Portal>
    </Popover.Root>
  );
}
