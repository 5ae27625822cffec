// A list is read and its live topic subscribed at the same time, and neither waits for the other: what happened after
// the one and before the other is in neither. One more reading, a moment later, brings it.

import { useEffect, useRef } from 'react';

const CATCH_UP_MS = 1_000;

/** Once for each `question` that is live. */
export function useCatchUp(question: string, isLive: boolean, refetch: () => void): void {
  const latest = useRef(refetch);
  latest.current = refetch;
  useEffect(() => {
    if (!isLive || question === '') return;
    const timer = setTimeout(() => latest.current(), CATCH_UP_MS);
    return () => clearTimeout(timer);
  }, [question, isLive]);
}
