// The JSON editor, loaded when the first one is shown.

import { lazy, type ReactNode, Suspense } from 'react';

export interface JsonEditorProps {
  readonly label: string;
  readonly value: string;
  readonly onChange?: (text: string) => void;
  readonly readOnly?: boolean;
  /** Ctrl/⌘ Enter. */
  readonly onRun?: () => void;
  /** Ctrl/⌘ S. */
  readonly onSave?: () => void;
  /** JSON Schema, for completion and hints (JSN-1). */
  readonly schema?: unknown;
  /** The smallest number of rows, and the largest before it scrolls. */
  readonly minLines?: number;
  readonly maxLines?: number;
}

const Editor = lazy(() => import('./code-mirror.tsx'));

export function JsonEditor(props: JsonEditorProps): ReactNode {
  const lines = props.minLines ?? 4;
  return (
    <Suspense fallback={<div className="skeleton w-full" style={{ height: lines * 18 + 12 }} />}>
      <Editor {...props} />
    </Suspense>
  );
}
