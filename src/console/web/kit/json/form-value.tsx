// The field of one value in a form, with its message: the input that fits its schema, or JSON text for schemas without
// one.

import { type ReactNode, useState } from 'react';
import { parseExactJson } from '../../../../core/calls/exact-json.ts';
import { FIELD, Field, Input, Select, Toggle } from '../inputs/field.tsx';
import { jsonProblem } from './logic/json-source.ts';
import { resolveRef, type SchemaNode } from './logic/schema-at.ts';
import type { FormErrors } from './logic/schema-errors.ts';
import { type FormField, type FormPath, numberFrom } from './logic/schema-form.ts';

export interface FormContext {
  readonly root: SchemaNode;
  readonly errors: FormErrors;
  readonly change: (path: FormPath, next: unknown) => void;
}

export interface FormNodeProps {
  readonly context: FormContext;
  readonly schema: SchemaNode;
  readonly value: unknown;
  readonly path: FormPath;
  readonly label: string;
  readonly required?: boolean;
}

export function PlainField(props: FormNodeProps & { readonly field: FormField }): ReactNode {
  const { context, schema, path, label, required = false } = props;
  const message = context.errors.at(path);
  const { description, title } = resolveRef(context.root, schema) ?? {};
  const name = `${title ?? (label === '' ? 'value' : label)}${required ? ' *' : ''}`;
  return (
    <Field label={name} error={message} hint={description}>
      {(ids) => <OneValue {...props} ids={{ ...ids, 'aria-invalid': message !== undefined }} />}
    </Field>
  );
}

type OneValueProps = FormNodeProps & {
  readonly field: FormField;
  readonly ids: { readonly id: string; readonly 'aria-describedby'?: string; readonly 'aria-invalid': boolean };
};

function OneValue({ context, value, path, field, label, required = false, ids }: OneValueProps): ReactNode {
  const change = (next: unknown): void => context.change(path, next);
  const textOr = (text: string): string | undefined => (text === '' && !required ? undefined : text);
  switch (field.kind) {
    case 'fixed':
      return <Input {...ids} readOnly value={JSON.stringify(field.value)} />;
    case 'null':
      return <Input {...ids} readOnly value="null" />;
    case 'boolean':
      return <Toggle label={value === true ? 'true' : 'false'} checked={value === true} onChange={change} />;
    case 'choice':
      return (
        <Select
          {...ids}
          value={value === undefined ? '' : JSON.stringify(value)}
          onChange={({ target }) => change(target.value === '' ? undefined : JSON.parse(target.value))}
        >
          {(value === undefined || !required) && <option value="">–</option>}
          {field.choices.map((choice) => (
            <option key={JSON.stringify(choice)} value={JSON.stringify(choice)}>
              {String(choice)}
            </option>
          ))}
        </Select>
      );
    case 'number':
      return <NumberInput value={value} whole={field.whole} ids={ids} change={change} />;
    case 'text':
      if (field.input === 'multiline') {
        return (
          <textarea
            {...ids}
            rows={4}
            className={`${FIELD} h-auto py-1`}
            value={typeof value === 'string' ? value : ''}
            onChange={({ target }) => change(textOr(target.value))}
          />
        );
      }
      return (
        <Input
          {...ids}
          type={field.input === 'datetime' ? 'text' : field.input}
          placeholder={field.input === 'datetime' ? '2026-01-31T12:00:00Z' : undefined}
          value={typeof value === 'string' ? value : ''}
          onChange={({ target }) => change(textOr(target.value))}
        />
      );
    default:
      return <JsonText value={value} ids={ids} change={change} label={label} />;
  }
}

interface PartProps {
  readonly value: unknown;
  readonly ids: OneValueProps['ids'];
  readonly change: (next: unknown) => void;
}

/** Keeps the typed text while it is not a number yet. */
function NumberInput({ value, whole, ids, change }: PartProps & { readonly whole: boolean }): ReactNode {
  const [typed, setTyped] = useState<string>();
  return (
    <Input
      {...ids}
      inputMode={whole ? 'numeric' : 'decimal'}
      value={typed ?? (value === undefined ? '' : JSON.stringify(value))}
      onChange={({ target }) => {
        setTyped(target.value);
        if (target.value === '') change(undefined);
        else if (numberFrom(target.value) !== undefined) change(numberFrom(target.value));
      }}
      onBlur={() => setTyped(undefined)}
    />
  );
}

function JsonText({ value, ids, change, label }: PartProps & { readonly label: string }): ReactNode {
  const [typed, setTyped] = useState<string>();
  const text = typed ?? (value === undefined ? '' : JSON.stringify(value, undefined, 2));
  return (
    <textarea
      {...ids}
      rows={3}
      aria-label={`${label}, as JSON`}
      className={`${FIELD} h-auto py-1 font-mono text-sm`}
      value={text}
      onChange={({ target }) => {
        setTyped(target.value);
        if (target.value.trim() === '') change(undefined);
        else if (jsonProblem(target.value) === undefined) change(parseExactJson(target.value));
      }}
      onBlur={() => setTyped(undefined)}
    />
  );
}
