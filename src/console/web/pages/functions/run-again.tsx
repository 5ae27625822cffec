// The input of an earlier run in the editor: what is missing of it is marked, and never sent unnoticed (FUN-10).

import { useQuery } from '@tanstack/react-query';
import { type ReactNode, useEffect, useState } from 'react';
import {
  explainGaps,
  inputForAgain,
  isComplete,
  stillRedacted,
} from '../../../../core/telemetry/payloads/explain-payloads.ts';
import type { StoredPayload } from '../../../../core/telemetry/payloads/stored-payload.ts';
import type { Draft } from '../../data/drafts.ts';
import { usePageSearch } from '../../data/search.ts';
import { ErrorCard } from '../../kit/feedback/error-card.tsx';
import { Toggle } from '../../kit/inputs/field.tsx';
import { formatJsonSource } from '../../kit/json/logic/json-member.ts';
import { visibleText } from '../../kit/json/logic/visible-text.ts';
import { payloadsQuery } from './run-payloads.tsx';
import { FUNCTIONS_SEARCH } from './search.ts';

export interface RunAgain {
  /** What the page says about the input; nothing where it is complete. */
  readonly note: ReactNode;
  /** Whether something is missing that the user has neither replaced nor accepted. */
  readonly isBlocked: boolean;
}

/** Reads the run that the address names into the draft, once. */
export function useRunAgain(draft: Draft): RunAgain {
  const { search, setSearch } = usePageSearch(FUNCTIONS_SEARCH);
  const { again } = search;
  const [traceId = '', spanId = ''] = again?.split('.') ?? [];
  const { data, error, refetch } = useQuery({ ...payloadsQuery(traceId, spanId), enabled: again !== undefined });
  const [partial, setPartial] = useState<StoredPayload>();
  const [isAccepted, setAccepted] = useState(false);
  useEffect(() => {
    if (again === undefined || data === undefined) return;
    const { input } = data;
    if (input !== null && input.json !== null) {
      draft.set(formatJsonSource(inputForAgain(input.json, input.channels)));
    }
    setPartial(input === null || isComplete(input) ? undefined : input);
    setAccepted(false);
    setSearch({ again: undefined });
  }, [again, data, draft, setSearch]);
  if (again !== undefined && error !== null) {
    return {
      note: <ErrorCard error={error} what="Reading the input of the run" retry={() => void refetch()} />,
      isBlocked: false,
    };
  }
  if (partial === undefined) return { note: undefined, isBlocked: false };
  const left = stillRedacted(parsed(draft.text), partial.redacted);
  const isWhole = partial.cut_at === null && left.length === 0;
  if (isWhole) return { note: undefined, isBlocked: false };
  return {
    isBlocked: !isAccepted,
    note: (
      <div role="status" className="rounded-md border border-warn bg-warn-soft p-2 text-sm text-warn">
        <p>This input of an earlier run is not complete. Fill in what is missing before you send it.</p>
        {explainGaps({ ...partial, redacted: left, channels: [] }).map((sentence) => (
          <p key={sentence}>{visibleText(sentence)}</p>
        ))}
        <Toggle label="Send it as it is shown" checked={isAccepted} onChange={setAccepted} />
      </div>
    ),
  };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
