// The difference of two JSON texts. Values are as stored, and both have the same layout.

import { lazy, type ReactNode, Suspense } from 'react';
import { formatJsonSource } from './logic/json-format.ts';

export interface JsonDiffProps {
  readonly label: string;
  readonly before: string;
  readonly after: string;
}

const Diff = lazy(() => import('./code-diff.tsx'));

export function JsonDiff({ label, before, after }: JsonDiffProps): ReactNode {
  return (
    <Suspense fallback={<div className="skeleton h-32 w-full" />}>
      <Diff label={label} before={laidOut(before)} after={laidOut(after)} />
    </Suspense>
  );
}

function laidOut(text: string): string {
  try {
    return formatJsonSource(text);
  } catch {
    return text;
  }
}
