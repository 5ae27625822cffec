// Editors of JSON text, each loaded when the first one is shown: the editor, the difference of two texts, and an input
// that is also a form where a schema is known, as two views of one value (FUN-6).

import { AlignLeft, Minimize2 } from 'lucide-react';
import { lazy, type ReactNode, Suspense, useState } from 'react';
import { IconButton } from '../inputs/button.tsx';
import { Segments } from '../inputs/field.tsx';
import { formatJsonSource, minifyJsonSource } from './logic/json-member.ts';
import { jsonProblem } from './logic/json-source.ts';
import type { SchemaNode } from './logic/schema-at.ts';

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

function JsonEditor(props: JsonEditorProps): ReactNode {
  const lines = props.minLines ?? 4;
  return (
    <Suspense fallback={<div className="skeleton w-full" style={{ height: lines * 18 + 12 }} />}>
      <Editor {...props} />
    </Suspense>
  );
}

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

export interface JsonInputProps {
  readonly label: string;
  readonly value: string;
  readonly onChange: (text: string) => void;
  readonly onRun?: () => void;
  readonly onSave?: () => void;
  readonly schema?: SchemaNode | null;
  readonly note?: ReactNode;
  readonly minLines?: number;
}

const SchemaForm = lazy(() => import('./schema-form.tsx'));

const VIEWS = [
  { value: 'form', label: 'Form' },
  { value: 'json', label: 'JSON' },
] as const;

export function JsonInput(props: JsonInputProps): ReactNode {
  const { label, value, onChange, schema, note } = props;
  const [view, setView] = useState<'form' | 'json'>('json');
  const isFine = jsonProblem(value) === undefined && value.trim() !== '';
  const hasForm = schema !== undefined && schema !== null;
  return (
    <div className="flex flex-col gap-1.5">
      <div className="flex items-center gap-2">
        <span className="text-xs font-medium text-muted">{label}</span>
        {note}
        <span className="flex-1" />
        {hasForm && <Segments label="View of the input" value={view} choices={VIEWS} onChange={setView} />}
        <IconButton label="Format" disabled={!isFine} onClick={() => onChange(formatJsonSource(value))}>
          <AlignLeft size={14} />
        </IconButton>
        <IconButton label="Minify" disabled={!isFine} onClick={() => onChange(minifyJsonSource(value))}>
          <Minimize2 size={14} />
        </IconButton>
      </div>
      {hasForm && view === 'form' ? (
        <Suspense fallback={<div className="skeleton h-24 w-full" />}>
          <SchemaForm schema={schema} value={value} onChange={onChange} />
        </Suspense>
      ) : (
        <JsonEditor {...props} minLines={props.minLines ?? 6} schema={schema ?? undefined} />
      )}
    </div>
  );
}
