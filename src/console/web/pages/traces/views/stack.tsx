// A stack trace: the application's own frames are shown, library frames fold into a line that counts them (TRC-15).

import { type ReactNode, useMemo } from 'react';
import { visibleText } from '../../../kit/json/logic/visible-text.ts';
import { keyed } from '../../logs/log-text.tsx';
import { foldStack, type StackPart } from '../logic/stack-fold.ts';

export function Stack({ text }: { readonly text: string }): ReactNode {
  const parts = useMemo(() => keyed(foldStack(text)), [text]);
  return (
    <div
      // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard
      tabIndex={0}
      role="region"
      aria-label="Stack"
      className="overflow-x-auto rounded-md border border-line bg-ground p-2 font-mono text-sm"
    >
      {parts.map(({ item: part, key }) => (
        <Part key={key} part={part} />
      ))}
    </div>
  );
}

function Part({ part }: { readonly part: StackPart }): ReactNode {
  if (part.kind !== 'library') {
    return (
      <div className={part.kind === 'own' ? 'whitespace-pre text-text' : 'whitespace-pre font-medium text-text'}>
        {visibleText(part.line) || ' '}
      </div>
    );
  }
  return (
    <details>
      <summary className="text-faint">{part.lines.length} library frames</summary>
      {part.lines.map((line) => (
        <div key={line} className="whitespace-pre text-muted">
          {visibleText(line)}
        </div>
      ))}
    </details>
  );
}
