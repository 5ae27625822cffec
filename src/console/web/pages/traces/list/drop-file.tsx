// A trace from a file (TRC-19): dropped anywhere on the page or chosen. It is read here and never sent.

import { useNavigate } from '@tanstack/react-router';
import { FileUp } from 'lucide-react';
import { type ReactNode, useRef, useState } from 'react';
import { createStore } from '../../../data/store.ts';
import { formatBytes } from '../../../kit/charts/times.ts';
import { toast } from '../../../kit/feedback/toast.tsx';
import { Button } from '../../../kit/inputs/button.tsx';

export const droppedFile = createStore<{ readonly name: string; readonly text: string } | undefined>(undefined);

const FILE_BYTES_MAX = 256 * 1024 * 1024;

function useOpenFile(): (file: File) => Promise<void> {
  const navigate = useNavigate();
  return async (file) => {
    if (file.size > FILE_BYTES_MAX) {
      const text = `${file.name} has ${formatBytes(file.size)}; the limit is ${formatBytes(FILE_BYTES_MAX)}`;
      return toast({ tone: 'bad', text });
    }
    droppedFile.set({ name: `${file.name} ${file.lastModified}`, text: await file.text() });
    await navigate({ to: '/traces/file', search: {} });
  };
}

export function DropZone({ children }: { readonly children: ReactNode }): ReactNode {
  const open = useOpenFile();
  const [isOver, setOver] = useState(false);
  const hasFile = (event: { dataTransfer: DataTransfer }): boolean => event.dataTransfer.types.includes('Files');
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: dropping is one way, the button of the list is the other
    <div
      className="relative h-full min-h-0"
      onDragOver={(event) => {
        if (!hasFile(event)) return;
        event.preventDefault();
        setOver(true);
      }}
      onDragLeave={(event) => {
        if (!event.currentTarget.contains(event.relatedTarget as Node | null)) setOver(false);
      }}
      onDrop={(event) => {
        if (!hasFile(event)) return;
        event.preventDefault();
        setOver(false);
        const [file] = event.dataTransfer.files;
        if (file !== undefined) void open(file);
      }}
    >
      {children}
      {isOver && (
        <div
          className={
            'pointer-events-none absolute inset-3 z-30 flex items-center justify-center rounded-lg border-2 ' +
            'border-dashed border-accent bg-ground/80 text-lg font-medium'
          }
        >
          Drop to view the trace, without storing it
        </div>
      )}
    </div>
  );
}

export function FileButton(): ReactNode {
  const open = useOpenFile();
  const input = useRef<HTMLInputElement>(null);
  return (
    <>
      <input
        ref={input}
        type="file"
        accept=".json,application/json"
        className="hidden"
        aria-label="Trace file"
        onChange={(event) => {
          const file = event.target.files?.[0];
          event.target.value = '';
          if (file !== undefined) void open(file);
        }}
      />
      <Button
        icon={<FileUp size={14} />}
        title="Or drop a file anywhere on this page"
        onClick={() => input.current?.click()}
      >
        Open file
      </Button>
    </>
  );
}
