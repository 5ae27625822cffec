// Which columns a table has, in which order and how wide (APP-11).

import { ArrowDown, ArrowUp, Columns3, Minus, Plus, RotateCcw } from 'lucide-react';
import type { ReactNode } from 'react';
import { Button, IconButton } from '../inputs/button.tsx';
import { Flyout } from '../layout/flyout.tsx';
import type { Column, ColumnChoice } from './column.ts';

const WIDTH_STEP = 24;

/** Everything that dragging a header does, for the keyboard too. */
export function ColumnMenu<Row>({
  choice,
  drawn,
}: {
  readonly choice: ColumnChoice<Row>;
  readonly drawn: readonly Column<Row>[];
}): ReactNode {
  const squeezed = choice.visible.length - drawn.length;
  return (
    <Flyout
      label="Columns"
      className="w-72"
      trigger={
        <IconButton label={squeezed === 0 ? 'Columns' : `Columns: no room for ${squeezed}`} className="min-w-7 px-1">
          <Columns3 size={15} />
          {squeezed > 0 && <span className="text-xs">+{squeezed}</span>}
        </IconButton>
      }
    >
      <ul className="flex max-h-80 flex-col overflow-y-auto">
        {choice.all.map((column) => (
          <li key={column.id} className="flex items-center gap-1">
            <label className="flex min-w-0 flex-1 items-center gap-2 rounded-md px-1 py-1 hover:bg-hover">
              <input
                type="checkbox"
                checked={choice.isVisible(column.id)}
                onChange={() => choice.toggle(column.id)}
                className="accent-(--accent-fill)"
              />
              <span className="truncate">{column.header}</span>
              {choice.isVisible(column.id) && !drawn.includes(column) && (
                <span className="text-xs whitespace-nowrap text-faint">no room</span>
              )}
            </label>
            <ColumnSteps choice={choice} id={column.id} header={column.header} width={choice.widthOf(column)} />
          </li>
        ))}
      </ul>
      <Button look="ghost" className="mt-1 w-full" icon={<RotateCcw size={13} />} onClick={choice.reset}>
        Reset columns
      </Button>
    </Flyout>
  );
}

interface StepsProps<Row> {
  readonly choice: ColumnChoice<Row>;
  readonly id: string;
  readonly header: string;
  readonly width: number;
}

function ColumnSteps<Row>({ choice, id, header, width }: StepsProps<Row>): ReactNode {
  const steps = [
    { label: `Move ${header} left`, icon: <ArrowUp size={13} />, run: () => choice.move(id, -1) },
    { label: `Move ${header} right`, icon: <ArrowDown size={13} />, run: () => choice.move(id, 1) },
    { label: `Narrower ${header}`, icon: <Minus size={13} />, run: () => choice.resize(id, width - WIDTH_STEP) },
    { label: `Wider ${header}`, icon: <Plus size={13} />, run: () => choice.resize(id, width + WIDTH_STEP) },
  ];
  return steps.map(({ label, icon, run }) => (
    <IconButton key={label} label={label} onClick={run} className="size-6">
      {icon}
    </IconButton>
  ));
}
