// A node of the flow: its kind as word and icon, and whether it fails (FLO-1, FLO-5).

import { Handle, type Node, type NodeProps, Position } from '@xyflow/react';
import { Boxes, Database, FunctionSquare, Inbox, type LucideIcon, Megaphone, Radio } from 'lucide-react';
import { memo, type ReactNode } from 'react';
import { Shape } from '../../kit/feedback/status.tsx';
import { Method, TriggerIcon } from '../../kit/feedback/trigger-icon.tsx';
import { visibleText } from '../../kit/json/logic/visible-text.ts';
import { classes } from '../../kit/layout/classes.ts';
import { kindWords } from './logic/flow-drawing.ts';
import { NODE_SIZE } from './logic/flow-layout.ts';
import type { FlowKind, ViewNode } from './logic/flow-view.ts';

export type FlowBox = Node<{ readonly view: ViewNode; readonly isDimmed: boolean }, 'box'>;
export type FlowFrame = Node<{ readonly label: string; readonly close: () => void }, 'frame'>;

const ICONS: Readonly<Record<Exclude<FlowKind, 'trigger'>, LucideIcon>> = {
  function: FunctionSquare,
  queue: Inbox,
  state: Database,
  stream: Radio,
  topic: Megaphone,
};

const GROUNDS: Readonly<Record<FlowKind, string>> = {
  trigger: 'bg-raised',
  function: 'bg-panel',
  queue: 'bg-warn-soft',
  state: 'bg-good-soft',
  stream: 'bg-accent-soft',
  topic: 'bg-raised',
};

export const FlowBoxNode = memo(({ data, selected }: NodeProps<FlowBox>): ReactNode => {
  const { view, isDimmed } = data;
  const { node, label, isFailing } = view;
  return (
    <div
      className={classes(
        'flex flex-col justify-center overflow-hidden rounded-md border px-2.5',
        node === undefined ? 'border-dashed bg-raised' : GROUNDS[node.kind],
        isFailing ? 'border-bad' : selected ? 'border-accent' : 'border-line-strong',
        selected && 'outline-2 outline-accent',
        isDimmed && 'opacity-25',
      )}
      style={NODE_SIZE}
    >
      <Handle type="target" position={Position.Left} isConnectable={false} className="opacity-0" />
      <span className="flex min-w-0 items-center gap-1.5 text-sm leading-4 font-medium">
        <Mark view={view} />
        <span className="truncate" title={visibleText(label)}>
          {visibleText(nameOf(view))}
        </span>
        {isFailing && (
          <span className="ml-auto flex shrink-0 items-center gap-1 text-xs text-bad">
            <Shape tone="bad" /> failing
          </span>
        )}
      </span>
      <span className="truncate text-xs leading-4 text-muted">{kindWords(view)}</span>
      <Handle type="source" position={Position.Right} isConnectable={false} className="opacity-0" />
    </div>
  );
});

function Mark({ view: { node } }: { readonly view: ViewNode }): ReactNode {
  if (node === undefined) return <Boxes size={14} className="shrink-0 text-muted" />;
  if (node.kind === 'trigger') {
    return node.method === null ? (
      <TriggerIcon type={node.trigger_type ?? 'trigger'} />
    ) : (
      <Method method={node.method} />
    );
  }
  const Icon = ICONS[node.kind];
  return <Icon size={14} className="shrink-0 text-muted" />;
}

/** `POST /orders` after the mark `POST` is `/orders`. */
function nameOf({ node, label }: ViewNode): string {
  const mark = node?.method;
  return mark != null && label.startsWith(`${mark} `) ? label.slice(mark.length + 1) : label;
}

export const FlowFrameNode = memo(
  ({ data, width, height }: NodeProps<FlowFrame>): ReactNode => (
    <div className="rounded-lg border border-dashed border-line-strong" style={{ width, height }}>
      <button
        type="button"
        onClick={data.close}
        className={
          'nodrag nopan pointer-events-auto max-w-full truncate px-3 pt-1.5 text-sm font-medium text-muted ' +
          'hover:text-text'
        }
        title="Close the group"
      >
        {visibleText(data.label)}
      </button>
    </div>
  ),
);
