// A list is read while its live topic is subscribed, and neither waits for the other. A change after the read and
// before the subscription is in neither. One more read, a moment later, finds it.

import { useEffect, useRef } from 'react';

const CATCH_UP_MS = 1_000;

/** Runs once for each `question` that is live. */
export function useCatchUp(question: string, isLive: boolean, refetch: () => void): void {
  const latest = useRef(refetch);
  latest.current = refetch;
  useEffect(() => {
    if (!isLive || question === '') return;
    const timer = setTimeout(() => latest.current(), CATCH_UP_MS);
    return () => clearTimeout(timer);
  }, [question, isLive]);
}
