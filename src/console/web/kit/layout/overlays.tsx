// What opens above a page: a sheet (a large dialog for forms and for differences to review before an action), a flyout
// next to its button (settings, a form, help), and a card that opens while its anchor is hovered or focused.

import { X } from 'lucide-react';
import { Dialog, Popover } from 'radix-ui';
import { type PointerEventHandler, type ReactNode, type RefObject, useLayoutEffect, useRef, useState } from 'react';
import { IconButton } from '../inputs/button.tsx';
import { classes } from './classes.ts';

export interface FocusBack {
  readonly onOpenAutoFocus: () => void;
  readonly onCloseAutoFocus: (event: Event) => void;
}

export function useFocusBack(): FocusBack {
  const before = useRef<Element | null>(null);
  // If an element in the dialog takes the focus by itself, the primitives do not report the opening. The content of a
  // dialog is mounted after this.
  useLayoutEffect(() => {
    before.current ??= document.activeElement;
  }, []);
  return {
    onOpenAutoFocus() {
      before.current = document.activeElement;
    },
    onCloseAutoFocus(event) {
      const { current } = before;
      // The element that opened it may be gone by now.
      if (!(current instanceof HTMLElement) || !current.isConnected) return;
      event.preventDefault();
      current.focus();
    },
  };
}

export interface SheetProps {
  readonly title: ReactNode;
  readonly onClose: () => void;
  readonly children: ReactNode;
}

const CONTENT =
  'fixed top-1/2 left-1/2 z-50 flex max-h-[calc(100dvh-32px)] w-[760px] max-w-[calc(100vw-24px)] -translate-x-1/2 ' +
  '-translate-y-1/2 flex-col rounded-lg border border-line bg-panel shadow-float';

export function Sheet({ title, onClose, children }: SheetProps): ReactNode {
  const focusBack = useFocusBack();
  return (
    <Dialog.Root open onOpenChange={(open) => !open && onClose()}>
      <Dialog.Portal>
        <Dialog.Overlay className="fixed inset-0 z-40 bg-ground/75" />
        <Dialog.Content aria-describedby={undefined} className={CONTENT} {...focusBack}>
          <header className="flex min-h-11 shrink-0 items-center gap-2 border-b border-line px-4">
            <Dialog.Title className="min-w-0 flex-1 truncate text-base font-semibold">{title}</Dialog.Title>
            <Dialog.Close asChild>
              <IconButton label="Close" hint="Esc">
                <X size={15} />
              </IconButton>
            </Dialog.Close>
          </header>
          <div className="flex min-h-0 flex-col gap-3 overflow-y-auto p-4">{children}</div>
        </Dialog.Content>
      </Dialog.Portal>
    </Dialog.Root>
  );
}

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
