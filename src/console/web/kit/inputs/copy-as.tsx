// "Copy as": the current call, as a command or as code (APP-10).

import { ClipboardCopy } from 'lucide-react';
import type { ReactNode } from 'react';
import { useConsoleInfo } from '../../data/console-info.ts';
import { Button } from './button.tsx';
import { copyText } from './clipboard.ts';
import { asCommand, asCurl, asTypeScript, type CopiedCall, type CopyPlaces } from './copy-as.ts';
import { Menu } from './menu.tsx';

export function useCopyPlaces(): CopyPlaces {
  const info = useConsoleInfo();
  return {
    httpUrl: info?.engine.http_url ?? 'http://127.0.0.1:3111',
    bridgeUrl: info?.engine.bridge_url ?? 'ws://127.0.0.1:49134',
    needsToken: info?.token_required ?? false,
  };
}

export function copiesOf(call: CopiedCall, places: CopyPlaces): readonly { label: string; text: string }[] {
  return [
    { label: 'svc command', text: asCommand(call, places) },
    { label: 'curl', text: asCurl(call, places) },
    { label: 'TypeScript', text: asTypeScript(call, places, 'svc-sdk') },
    { label: 'Browser', text: asTypeScript(call, places, 'svc-browser-sdk') },
  ];
}

export function CopyAs({ call }: { readonly call: CopiedCall }): ReactNode {
  const places = useCopyPlaces();
  return (
    <Menu
      trigger={<Button icon={<ClipboardCopy size={14} />}>Copy as</Button>}
      items={copiesOf(call, places).map(({ label, text }) => ({ label, run: () => void copyText(text, label) }))}
    />
  );
}
