// Attributes as a list of names and values, each with its actions (TRC-15).

import { Copy, EllipsisVertical, Filter, FilterX, TableProperties } from 'lucide-react';
import { type ReactNode, useState } from 'react';
import { formatCount } from '../../../kit/charts/times.ts';
import { Button, IconButton } from '../../../kit/inputs/button.tsx';
import { copyText } from '../../../kit/inputs/copy.tsx';
import { Input } from '../../../kit/inputs/field.tsx';
import { Menu } from '../../../kit/inputs/menu.tsx';
import { visibleText } from '../../../kit/json/logic/visible-text.ts';

export interface AttributeActions {
  readonly filterBy: (key: string, value: string) => void;
  readonly exclude: (key: string, value: string) => void;
  readonly addColumn: (key: string) => void;
}

export interface AttributeListProps {
  readonly pairs: readonly (readonly [key: string, value: string])[];
  readonly empty: string;
  readonly actions: AttributeActions | undefined;
}

const FILTER_FROM = 12;
const VALUE_CHARS_MAX = 2_000;

export function AttributeList({ pairs, empty, actions }: AttributeListProps): ReactNode {
  const [text, setText] = useState('');
  if (pairs.length === 0) return <p className="text-muted">{empty}</p>;
  const wanted = text.trim().toLowerCase();
  const shown = pairs
    .map(([key, value], at) => ({ key, value, at }))
    .filter(({ key, value }) => key.toLowerCase().includes(wanted) || value.toLowerCase().includes(wanted));
  return (
    <div className="flex flex-col gap-2">
      {pairs.length >= FILTER_FROM && (
        <Input
          type="search"
          aria-label="Search attributes"
          placeholder="Search attributes…"
          value={text}
          onChange={(event) => setText(event.target.value)}
        />
      )}
      <dl className="divide-y divide-line">
        {shown.map(({ key, value, at }) => (
          <div key={at} className="group grid grid-cols-[minmax(90px,2fr)_minmax(0,3fr)_auto] items-start gap-2 py-1">
            <dt className="min-w-0 font-mono text-sm break-words text-muted">{visibleText(key)}</dt>
            <dd className="min-w-0 font-mono text-sm break-words whitespace-pre-wrap">
              <Value text={value} />
            </dd>
            <dd>
              <PairMenu name={key} value={value} actions={actions} />
            </dd>
          </div>
        ))}
      </dl>
      {shown.length === 0 && <p className="text-muted">No attribute has “{text}”.</p>}
    </div>
  );
}

function Value({ text }: { readonly text: string }): ReactNode {
  const [isWhole, setWhole] = useState(false);
  if (text === '') return <span className="text-faint">empty</span>;
  if (isWhole || text.length <= VALUE_CHARS_MAX) return visibleText(text);
  return (
    <>
      {visibleText(text.slice(0, VALUE_CHARS_MAX))}
      <Button look="ghost" onClick={() => setWhole(true)}>
        Show all {formatCount(text.length)} characters
      </Button>
    </>
  );
}

function PairMenu({
  name,
  value,
  actions,
}: {
  readonly name: string;
  readonly value: string;
  readonly actions: AttributeActions | undefined;
}): ReactNode {
  const copies = [
    { label: 'Copy value', icon: <Copy size={13} />, run: () => void copyText(value, 'value') },
    {
      label: 'Copy name and value',
      icon: <Copy size={13} />,
      run: () => void copyText(`${name}=${value}`, 'attribute'),
    },
  ];
  const more =
    actions === undefined
      ? []
      : [
          'line' as const,
          { label: 'Filter traces by it', icon: <Filter size={13} />, run: () => actions.filterBy(name, value) },
          { label: 'Exclude from traces', icon: <FilterX size={13} />, run: () => actions.exclude(name, value) },
          { label: 'Add as column', icon: <TableProperties size={13} />, run: () => actions.addColumn(name) },
        ];
  return (
    <Menu
      trigger={
        <IconButton label={`Actions for ${name}`} className="size-6">
          <EllipsisVertical size={13} />
        </IconButton>
      }
      items={[...copies, ...more]}
    />
  );
}
