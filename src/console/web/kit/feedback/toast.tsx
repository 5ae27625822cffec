// Short messages at the edge of the screen. A message that is repeated while it is shown is counted, not stacked
// (APP-2).

import { X } from 'lucide-react';
import { Toast as Primitive } from 'radix-ui';
import type { ReactNode } from 'react';
import { createStore, useStore } from '../../data/store.ts';
import { Shape, type Tone } from './status.tsx';

export interface Toast {
  readonly id: number;
  readonly tone: Tone;
  readonly text: string;
  readonly times: number;
}

const toasts = createStore<readonly Toast[]>([]);

const SHOWN_MAX = 3;
let nextId = 1;

export function toast({ tone, text }: Pick<Toast, 'tone' | 'text'>): void {
  toasts.set((now) => {
    const same = now.find((one) => one.text === text);
    if (same !== undefined) return now.map((one) => (one === same ? { ...one, times: one.times + 1 } : one));
    return [...now, { id: nextId++, tone, text, times: 1 }].slice(-SHOWN_MAX);
  });
}

function dismissToast(id: number): void {
  toasts.set((now) => now.filter((one) => one.id !== id));
}

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
