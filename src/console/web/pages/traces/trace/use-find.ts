// Find in trace (TRC-8): the worker searches while the user types; matches are marked, counted and can be stepped
// through.

import { useEffect, useState } from 'react';
import type { LogRow } from '../../../../../console-api/telemetry.ts';
import { nextMatch } from '../logic/trace-find.ts';
import type { TraceView } from '../logic/trace-session.ts';
import type { TraceClient } from './trace-client.ts';

export interface Find {
  /** `null` while there is no search. */
  readonly found: Uint8Array | null;
  /** The same, but `null` while nothing matches: a search without a match dims nothing. */
  readonly shown: Uint8Array | null;
  readonly count: number;
  readonly next: (from: number | undefined, step: 1 | -1) => number | undefined;
}

export function useFind(client: TraceClient, view: TraceView, query: string, logs: readonly LogRow[]): Find {
  const [found, setFound] = useState<Uint8Array | null>(null);
  useEffect(() => {
    if (query.trim() === '') {
      setFound(null);
      return;
    }
    let isCurrent = true;
    const texts = logs.flatMap(({ span_id: spanId, body }) => (spanId === null ? [] : [{ spanId, text: body }]));
    client.ask({ op: 'find', query, logs: texts }).then(
      (next) => isCurrent && next.length === view.columns.count && setFound(next),
      () => undefined,
    );
    return () => {
      isCurrent = false;
    };
  }, [client, view, query, logs]);
  const isCurrent = found !== null && found.length === view.columns.count;
  const count = isCurrent ? found.reduce((sum, one) => sum + one, 0) : 0;
  return {
    found: isCurrent ? found : null,
    shown: isCurrent && count > 0 ? found : null,
    count,
    next: (from, step) => (isCurrent ? nextMatch(found, from ?? (step === 1 ? -1 : 0), step) : undefined),
  };
}
