// The list of problems that need attention, worst first (DSH-4).

import { Link } from '@tanstack/react-router';
import { CircleCheck } from 'lucide-react';
import type { ReactNode } from 'react';
import { Shape } from '../../kit/feedback/status.tsx';
import { visibleText } from '../../kit/json/logic/visible-text.ts';
import { Card } from '../../kit/layout/page.tsx';
import { type AttentionFacts, attentionOf } from './logic/attention.ts';

export function AttentionList({ facts }: { readonly facts: AttentionFacts }): ReactNode {
  const lines = attentionOf(facts);
  return (
    <Card
      title="Needs attention"
      actions={lines.length > 0 && <span className="text-sm text-muted">{lines.length}</span>}
      flush
    >
      {lines.length === 0 ? (
        <p className="flex h-full min-h-40 items-center justify-center gap-2 text-muted">
          <CircleCheck size={16} className="text-good" /> Nothing needs you.
        </p>
      ) : (
        <ul className="max-h-80 overflow-y-auto">
          {lines.map(({ key, tone, title, note, to, search }) => (
            <li key={key} className="border-b border-line last:border-0">
              <Link to={to} search={search} className="flex items-start gap-2.5 px-3 py-2 hover:bg-hover">
                <span className="pt-[5px]">
                  <Shape tone={tone} />
                </span>
                <span className="min-w-0">
                  <span className="block font-medium break-words">{visibleText(title)}</span>
                  <span className="line-clamp-2 text-sm break-words text-muted">{visibleText(note)}</span>
                </span>
              </Link>
            </li>
          ))}
        </ul>
      )}
    </Card>
  );
}
