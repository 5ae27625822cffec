// A large dialog: forms, and differences to review before an action.

import { X } from 'lucide-react';
import { Dialog } from 'radix-ui';
import type { ReactNode } from 'react';
import { IconButton } from '../inputs/button.tsx';
import { useFocusBack } from './focus-back.ts';

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
