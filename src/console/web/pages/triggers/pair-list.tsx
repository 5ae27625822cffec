// A list of names with values: query parameters, headers.

import { Plus, X } from 'lucide-react';
import type { ReactNode } from 'react';
import { Button, IconButton } from '../../kit/inputs/button.tsx';
import { Input } from '../../kit/inputs/field.tsx';

export interface Pair {
  readonly id: number;
  readonly name: string;
  readonly value: string;
}

interface PairListProps {
  /** The name of one pair: "Query parameter". */
  readonly what: string;
  readonly pairs: readonly Pair[];
  readonly onChange: (pairs: readonly Pair[]) => void;
}

export function PairList({ what, pairs, onChange }: PairListProps): ReactNode {
  const change = (id: number, part: Partial<Pair>): void =>
    onChange(pairs.map((pair) => (pair.id === id ? { ...pair, ...part } : pair)));
  const nextId = Math.max(0, ...pairs.map(({ id }) => id)) + 1;
  return (
    <div className="flex flex-col gap-1">
      {pairs.map(({ id, name, value }) => (
        <div key={id} className="flex items-center gap-1">
          <Input
            aria-label={`${what}: name`}
            placeholder="name"
            className="w-36 font-mono"
            value={name}
            onChange={(event) => change(id, { name: event.target.value })}
          />
          <Input
            aria-label={`${what}: value`}
            placeholder="value"
            className="flex-1 font-mono"
            value={value}
            onChange={(event) => change(id, { value: event.target.value })}
          />
          <IconButton
            label={`Remove ${what.toLowerCase()} ${name}`}
            onClick={() => onChange(pairs.filter((pair) => pair.id !== id))}
          >
            <X size={13} />
          </IconButton>
        </div>
      ))}
      <Button
        look="ghost"
        className="self-start"
        icon={<Plus size={13} />}
        onClick={() => onChange([...pairs, { id: nextId, name: '', value: '' }])}
      >
        {what}
      </Button>
    </div>
  );
}
