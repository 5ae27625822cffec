// A form made from a JSON Schema, over the same JSON text that the editor edits (FUN-6). Loaded lazily.

import { type ReactNode, useMemo } from 'react';
import { parseExactJson } from '../../../../core/calls/exact-json.ts';
import { FormNode } from './form-node.tsx';
import type { FormContext } from './form-value.tsx';
import { jsonProblem } from './logic/json-source.ts';
import type { SchemaNode } from './logic/schema-at.ts';
import { compileFormCheck, NO_ERRORS } from './logic/schema-errors.ts';
import { type FormPath, withValueAt } from './logic/schema-form.ts';

export interface SchemaFormProps {
  readonly schema: SchemaNode;
  readonly value: string;
  readonly onChange: (text: string) => void;
}

export default function SchemaForm({ schema, value, onChange }: SchemaFormProps): ReactNode {
  const problem = jsonProblem(value);
  const isEmpty = value.trim() === '';
  const current = useMemo(
    () => (problem === undefined && !isEmpty ? parseExactJson(value) : null),
    [value, problem, isEmpty],
  );
  const check = useMemo(() => compileFormCheck(schema), [schema]);
  const errors = useMemo(
    () => (problem === undefined && !isEmpty ? check.errorsOf(JSON.parse(value)) : NO_ERRORS),
    [check, value, problem, isEmpty],
  );
  if (problem !== undefined) {
    return <p className="rounded-md border border-bad bg-bad-soft p-2 text-bad">The text is not JSON: {problem}.</p>;
  }
  const context: FormContext = {
    root: schema,
    errors,
    change: (path: FormPath, next: unknown) =>
      onChange(JSON.stringify(withValueAt(current, path, next) ?? null, undefined, 2)),
  };
  return (
    <div className="flex flex-col gap-3 rounded-md border border-line bg-ground p-3">
      {check.unchecked.length > 0 && <Unchecked parts={check.unchecked} />}
      <FormNode context={context} schema={schema} value={current} path={[]} label="" />
    </div>
  );
}

const PARTS_SHOWN_MAX = 3;

function Unchecked({ parts }: { readonly parts: readonly string[] }): ReactNode {
  const hidden = parts.length - PARTS_SHOWN_MAX;
  return (
    <div className="rounded-md border border-warn bg-warn-soft p-2 text-sm">
      <p>The form does not check these parts of the schema:</p>
      <ul className="ml-4 list-disc">
        {parts.slice(0, PARTS_SHOWN_MAX).map((part) => (
          <li key={part}>{part}</li>
        ))}
        {hidden > 0 && <li>and {hidden} more</li>}
      </ul>
    </div>
  );
}
