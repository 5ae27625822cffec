// Shows the messages that `toast` was called with.

import { X } from 'lucide-react';
import { Toast as Primitive } from 'radix-ui';
import type { ReactNode } from 'react';
import { useStore } from '../../data/store.ts';
import { Shape } from './status.tsx';
import { dismissToast, toasts } from './toast-store.ts';

const SHOWN_MS = 4_000;

export function Toasts(): ReactNode {
  return (
    <Primitive.Provider duration={SHOWN_MS} label="Message">
      {useStore(toasts).map(({ id, tone, text, times }) => (
        <Primitive.Root
          key={id}
          onOpenChange={(open) => !open && dismissToast(id)}
          className={
            'flex items-center gap-2 rounded-lg border border-line bg-raised py-2 pr-1 pl-3 text-sm shadow-float'
          }
        >
          <Shape tone={tone} />
          <Primitive.Title className="min-w-0 flex-1 break-words">{text}</Primitive.Title>
          {times > 1 && <span className="text-faint">×{times}</span>}
          <Primitive.Close aria-label="Close message" className="rounded-md p-1 text-muted hover:text-text">
            <X size={14} />
          </Primitive.Close>
        </Primitive.Root>
      ))}
      <Primitive.Viewport className="fixed right-4 bottom-4 z-50 flex w-80 max-w-[calc(100vw-32px)] flex-col gap-2" />
    </Primitive.Provider>
  );
}
