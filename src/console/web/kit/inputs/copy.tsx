// Copying: a text with a report of the result, an id that is cut in the middle and opened by a click (APP-9), and "Copy
// as", the current call as a command or as code (APP-10).

import { Link } from '@tanstack/react-router';
import { ClipboardCopy, Copy } from 'lucide-react';
import type { ReactNode } from 'react';
import { useConsoleInfo } from '../../data/connection.ts';
import { toast } from '../feedback/toast.tsx';
import { visibleText } from '../json/logic/visible-text.ts';
import { classes } from '../layout/classes.ts';
import { Button } from './button.tsx';
import { asCommand, asCurl, asTypeScript, type CallEndpoints, type CopiedCall } from './call-text.ts';
import { Menu } from './menu.tsx';

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

export interface CopyIdProps {
  readonly id: string;
  /** What it is, for the button's name: "function id". */
  readonly what: string;
  /** The page that it opens, with search parameters. */
  readonly to?: string | undefined;
  readonly search?: Readonly<Record<string, string>> | undefined;
  /** For links that select in the page itself. */
  readonly onOpen?: (() => void) | undefined;
  readonly className?: string;
}

export function CopyId({ id, what, to, search, onOpen, className }: CopyIdProps): ReactNode {
  return (
    <span className={classes('group/id inline-flex max-w-full min-w-0 items-center gap-1 font-mono', className)}>
      {to === undefined && onOpen === undefined ? (
        <MiddleCut text={id} />
      ) : to === undefined ? (
        <button type="button" onClick={onOpen} className="min-w-0 text-left hover:text-accent hover:underline">
          <MiddleCut text={id} />
        </button>
      ) : (
        <Link to={to} search={search ?? {}} className="min-w-0 text-accent hover:underline">
          <MiddleCut text={id} />
        </Link>
      )}
      <button
        type="button"
        aria-label={`Copy ${what}`}
        title={`Copy ${what}`}
        onClick={(event) => {
          event.stopPropagation();
          void copyText(id, what);
        }}
        className={
          'relative shrink-0 rounded-sm p-0.5 text-faint opacity-0 hover:text-text focus-visible:opacity-100 ' +
          // A touch target has to be larger than the icon.
          'group-hover/id:opacity-100 after:absolute after:-inset-1 [@media(hover:none)]:opacity-100'
        }
      >
        <Copy size={12} />
      </button>
    </span>
  );
}

/** The end stays visible, because it distinguishes ids. The first part shrinks, the last does not. */
export function MiddleCut({ text, tail = 10 }: { readonly text: string; readonly tail?: number }): ReactNode {
  const shown = visibleText(text);
  if (shown.length <= tail * 2) return <span className="block truncate whitespace-pre">{shown}</span>;
  // Do not split a surrogate pair.
  const end = shown.length - tail;
  const cut = /[\udc00-\udfff]/.test(shown.charAt(end)) ? end - 1 : end;
  return (
    <span className="flex min-w-0 whitespace-pre" title={shown}>
      <span className="truncate">{shown.slice(0, cut)}</span>
      <span className="shrink-0">{shown.slice(cut)}</span>
    </span>
  );
}

export function useCallEndpoints(): CallEndpoints {
  const info = useConsoleInfo();
  return {
    httpUrl: info?.engine.http_url ?? 'http://127.0.0.1:3111',
    bridgeUrl: info?.engine.bridge_url ?? 'ws://127.0.0.1:49134',
    needsToken: info?.token_required ?? false,
  };
}

export function copiesOf(call: CopiedCall, endpoints: CallEndpoints): readonly { label: string; text: string }[] {
  return [
    { label: 'svc command', text: asCommand(call, endpoints) },
    { label: 'curl', text: asCurl(call, endpoints) },
    { label: 'TypeScript', text: asTypeScript(call, endpoints, 'svc-sdk') },
    { label: 'Browser', text: asTypeScript(call, endpoints, 'svc-browser-sdk') },
  ];
}

export function CopyAs({ call }: { readonly call: CopiedCall }): ReactNode {
  const endpoints = useCallEndpoints();
  return (
    <Menu
      trigger={<Button icon={<ClipboardCopy size={14} />}>Copy as</Button>}
      items={copiesOf(call, endpoints).map(({ label, text }) => ({ label, run: () => void copyText(text, label) }))}
    />
  );
}
