// Input as JSON text, and as a form where a schema is known: two views of one value (FUN-6).

import { AlignLeft, Minimize2 } from 'lucide-react';
import { lazy, type ReactNode, Suspense, useState } from 'react';
import { IconButton } from '../inputs/button.tsx';
import { Segments } from '../inputs/field.tsx';
import { JsonEditor } from './json-editor.tsx';
import { formatJsonSource, minifyJsonSource } from './logic/json-format.ts';
import { jsonProblem } from './logic/json-source.ts';
import type { SchemaNode } from './logic/schema-at.ts';

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
