// One node of a form: the field that fits its schema with the error message of its value, or the JSON text for schemas
// without a field.

import { Plus, Trash2 } from 'lucide-react';
import { type ReactNode, useState } from 'react';
import { parseExactJson } from '../../../../core/calls/exact-json.ts';
import { Button, IconButton } from '../inputs/button.tsx';
import { FIELD, Field, Input, Select, Toggle } from '../inputs/field.tsx';
import { jsonProblem } from './logic/json-source.ts';
import { resolveRef, type SchemaNode } from './logic/schema-at.ts';
import { type FormField, type FormPath, fieldOf, isRecord, newValue, numberFrom } from './logic/schema-form.ts';

export interface FormContext {
  readonly root: SchemaNode;
  /** By JSON pointer, as the validator names places: `#/items/0`. */
  readonly errors: ReadonlyMap<string, string>;
  readonly change: (path: FormPath, next: unknown) => void;
}

interface FormNodeProps {
  readonly context: FormContext;
  readonly schema: SchemaNode;
  readonly value: unknown;
  readonly path: FormPath;
  readonly label: string;
  readonly required?: boolean;
}

export function FormNode(props: FormNodeProps): ReactNode {
  const field = fieldOf(props.context.root, props.schema);
  switch (field.kind) {
    case 'object':
      return <ObjectField {...props} field={field} />;
    case 'array':
      return <ArrayField {...props} items={field.items} />;
    case 'union':
      return <UnionField {...props} field={field} />;
    default:
      return <PlainField {...props} field={field} />;
  }
}

function Group({ label, note, children }: { label: string; note?: ReactNode; children: ReactNode }): ReactNode {
  if (label === '') return <div className="flex flex-col gap-3">{children}</div>;
  return (
    <fieldset className="flex min-w-0 flex-col gap-3 border-l-2 border-line pl-3">
      <legend className="flex items-center gap-2 text-xs font-medium text-muted">
        {label} {note}
      </legend>
      {children}
    </fieldset>
  );
}

function ObjectField({
  context,
  value,
  path,
  label,
  field,
}: FormNodeProps & { readonly field: Extract<FormField, { kind: 'object' }> }): ReactNode {
  const [name, setName] = useState('');
  const record = isRecord(value) ? value : {};
  const known = new Set(field.members.map((member) => member.name));
  const extras = Object.keys(record).filter((key) => !known.has(key));
  const { extra } = field;
  return (
    <Group label={label}>
      {field.members.map((member) => (
        <FormNode
          key={member.name}
          context={context}
          schema={member.schema}
          value={record[member.name]}
          path={[...path, member.name]}
          label={member.name}
          required={member.required}
        />
      ))}
      {extras.map((key) => (
        <div key={key} className="flex items-end gap-1">
          <div className="min-w-0 flex-1">
            <FormNode
              context={context}
              schema={typeof extra === 'object' ? extra : {}}
              value={record[key]}
              path={[...path, key]}
              label={key}
            />
          </div>
          <IconButton label={`Remove ${key}`} onClick={() => context.change([...path, key], undefined)}>
            <Trash2 size={13} />
          </IconButton>
        </div>
      ))}
      {extra !== undefined && (
        <div className="flex items-center gap-1">
          <Input
            aria-label="Name of another member"
            placeholder="name"
            value={name}
            onChange={(event) => setName(event.target.value)}
          />
          <Button
            icon={<Plus size={13} />}
            disabled={name === '' || name in record}
            onClick={() => [context.change([...path, name], newValue(context.root, extra)), setName('')]}
          >
            Add
          </Button>
        </div>
      )}
    </Group>
  );
}

function ArrayField({ context, value, path, label, items }: FormNodeProps & { readonly items: SchemaNode }): ReactNode {
  const list: readonly unknown[] = Array.isArray(value) ? value : [];
  const message = context.errors.get(pointerOf(path));
  return (
    <Group label={label === '' ? 'items' : label} note={<span className="text-faint">{list.length}</span>}>
      {list.map((item, at) => (
        <div key={ITEM_KEYS[at] ?? at} className="flex items-end gap-1">
          <div className="min-w-0 flex-1">
            <FormNode context={context} schema={items} value={item} path={[...path, at]} label={String(at)} />
          </div>
          <IconButton label={`Remove item ${at}`} onClick={() => context.change([...path, at], undefined)}>
            <Trash2 size={13} />
          </IconButton>
        </div>
      ))}
      {message !== undefined && <p className="text-xs text-bad">{message}</p>}
      <Button
        className="self-start"
        icon={<Plus size={13} />}
        onClick={() => context.change([...path, list.length], newValue(context.root, items))}
      >
        Add item
      </Button>
    </Group>
  );
}

const ITEM_KEYS = Array.from({ length: 256 }, (_none, at) => `item-${at}`);

function UnionField({
  context,
  value,
  path,
  label,
  field,
}: FormNodeProps & { readonly field: Extract<FormField, { kind: 'union' }> }): ReactNode {
  const tag = isRecord(value) ? value[field.by] : undefined;
  const branch = field.branches.find((one) => one.tag === tag);
  const choose = (next: string): void => {
    const chosen = field.branches.find((one) => one.tag === next);
    if (chosen !== undefined) context.change(path, newValue(context.root, chosen.schema));
  };
  return (
    <Group label={label}>
      <Select
        aria-label={`${label} ${field.by}`}
        value={branch?.tag ?? ''}
        onChange={(event) => choose(event.target.value)}
      >
        {branch === undefined && <option value="">Choose…</option>}
        {field.branches.map((one) => (
          <option key={one.tag}>{one.tag}</option>
        ))}
      </Select>
      {branch !== undefined && <FormNode context={context} schema={branch.schema} value={value} path={path} label="" />}
    </Group>
  );
}

function pointerOf(path: FormPath): string {
  return ['#', ...path.map((step) => encodeURI(String(step).replaceAll('~', '~0').replaceAll('/', '~1')))].join('/');
}

function PlainField(props: FormNodeProps & { readonly field: FormField }): ReactNode {
  const { context, schema, path, label, required = false } = props;
  const message = context.errors.get(pointerOf(path));
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
