// One node of a form: an object, an array or a choice between alternatives, with the nodes inside it.

import { Plus, Trash2 } from 'lucide-react';
import { type ReactNode, useState } from 'react';
import { Button, IconButton } from '../inputs/button.tsx';
import { Input, Select } from '../inputs/field.tsx';
import { type FormNodeProps, PlainField } from './form-value.tsx';
import type { SchemaNode } from './logic/schema-at.ts';
import { type FormField, fieldOf, isObject, newValue } from './logic/schema-form.ts';

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

interface GroupProps {
  readonly label: string;
  readonly note?: ReactNode;
  readonly error?: string | undefined;
  readonly children: ReactNode;
}

function Group({ label, note, error, children: parts }: GroupProps): ReactNode {
  const children = (
    <>
      {parts}
      {error !== undefined && <p className="text-xs text-bad">{error}</p>}
    </>
  );
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
  const record = isObject(value) ? value : {};
  const known = new Set(field.members.map((member) => member.name));
  const extras = Object.keys(record).filter((key) => !known.has(key));
  const { extra } = field;
  return (
    <Group label={label} error={context.errors.at(path)}>
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
  return (
    <Group
      label={label === '' ? 'items' : label}
      note={<span className="text-faint">{list.length}</span>}
      error={context.errors.at(path)}
    >
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
  const tag = isObject(value) ? value[field.by] : undefined;
  const index = field.branches.findIndex((one) => one.tag === tag);
  const branch = field.branches[index];
  const choose = (next: string): void => {
    const chosen = field.branches.find((one) => one.tag === next);
    if (chosen !== undefined) context.change(path, newValue(context.root, chosen.schema));
  };
  const isWrong = branch === undefined && context.errors.at(path) !== undefined;
  const tags = field.branches.map((one) => JSON.stringify(one.tag));
  return (
    <Group label={label} error={isWrong ? `${field.by} must be one of ${tags.join(', ')}` : undefined}>
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
      {branch !== undefined && (
        <FormNode
          context={{ ...context, errors: context.errors.ofAlternative(path, index) }}
          schema={branch.schema}
          value={value}
          path={path}
          label=""
        />
      )}
    </Group>
  );
}
