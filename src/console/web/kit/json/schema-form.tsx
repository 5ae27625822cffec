// A form made from a JSON Schema, over the same JSON text that the editor edits (FUN-6). Loaded lazily.

import { Validator } from '@cfworker/json-schema';
import { type ReactNode, useMemo } from 'react';
import { parseExactJson } from '../../../../core/calls/exact-json.ts';
import { type FormContext, FormNode } from './form-node.tsx';
import { jsonProblem } from './logic/json-source.ts';
import type { SchemaNode } from './logic/schema-at.ts';
import { type FormPath, withValueAt } from './logic/schema-form.ts';

export interface SchemaFormProps {
  readonly schema: SchemaNode;
  readonly value: string;
  readonly onChange: (text: string) => void;
}

export default function SchemaForm({ schema, value, onChange }: SchemaFormProps): ReactNode {
  const problem = jsonProblem(value);
  const current = useMemo(
    () => (problem === undefined && value.trim() !== '' ? parseExactJson(value) : null),
    [value, problem],
  );
  const validator = useMemo(() => new Validator(schema as object, '2020-12', false), [schema]);
  const errors = useMemo(() => messagesOf(validator, value, problem), [validator, value, problem]);
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
      <FormNode context={context} schema={schema} value={current} path={[]} label="" />
    </div>
  );
}

/** One message per place: the library's first, which is the most precise. */
function messagesOf(validator: Validator, text: string, problem: string | undefined): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  if (problem !== undefined || text.trim() === '') return found;
  const problems = validator.validate(JSON.parse(text)).errors.toReversed();
  for (const { instanceLocation, error, keyword } of problems) {
    if (keyword === 'properties' || keyword === 'items' || keyword === '$ref') continue;
    const missing = keyword === 'required' ? /"([^"]+)"/.exec(error)?.[1] : undefined;
    const place = missing === undefined ? instanceLocation : `${instanceLocation}/${missing}`;
    if (!found.has(place)) found.set(place, missing === undefined ? error : 'This is required.');
  }
  return found;
}
