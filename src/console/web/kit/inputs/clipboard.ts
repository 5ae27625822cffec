// Copies a text and reports the result.

import { toast } from '../feedback/toast-store.ts';

export async function copyText(text: string, what: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
    toast({ tone: 'good', text: `Copied ${what}` });
  } catch {
    toast({ tone: 'bad', text: 'This browser does not let pages copy. Select the text and copy it by hand.' });
  }
}

export function download(name: string, type: string, text: string): void {
  const address = URL.createObjectURL(new Blob([text], { type }));
  const link = document.createElement('a');
  link.href = address;
  link.download = name;
  link.click();
  // The browser has begun to read it by the time the next task runs.
  setTimeout(() => URL.revokeObjectURL(address), 1_000);
}
