// The width of the names next to the waterfall: dragged or moved with the arrow keys, kept in this browser (TRC-5).

import { type ReactNode, useMemo, useState } from 'react';
import { keep, readKept } from '../../../data/preferences.ts';

const NAME_PLACE = 'svc.trace-names';
const NAME_MIN = 140;

export interface NameWidth {
  readonly width: number;
  readonly resize: (to: number) => void;
}

export function useNameWidth(): NameWidth {
  const [width, setWidth] = useState<number>(() => {
    const kept = readKept(NAME_PLACE);
    return typeof kept === 'number' ? kept : 340;
  });
  return useMemo(() => {
    const most = Math.round(innerWidth * 0.6);
    const resize = (to: number): void => {
      const kept = Math.round(Math.min(Math.max(to, NAME_MIN), most));
      setWidth(kept);
      keep(NAME_PLACE, kept);
    };
    // On a small screen the names take half of it, even if a larger width was chosen on a large one.
    return { width: Math.min(width, Math.max(NAME_MIN, Math.round(innerWidth * 0.45))), resize };
  }, [width]);
}

export function NameEdge({ width, resize }: NameWidth): ReactNode {
  return (
    <div
      role="separator"
      aria-orientation="vertical"
      aria-label="Width of the names"
      aria-valuenow={width}
      aria-valuemin={NAME_MIN}
      aria-valuemax={Math.round(innerWidth * 0.6)}
      tabIndex={0}
      className="absolute inset-y-0 -right-1 z-10 w-2 cursor-col-resize touch-none hover:bg-accent-soft"
      onKeyDown={(event) => {
        const by = event.key === 'ArrowLeft' ? -24 : event.key === 'ArrowRight' ? 24 : 0;
        if (by === 0) return;
        event.preventDefault();
        event.stopPropagation();
        resize(width + by);
      }}
      onPointerDown={(event) => {
        event.preventDefault();
        const edge = event.currentTarget;
        edge.setPointerCapture(event.pointerId);
        const [fromX, fromWidth] = [event.clientX, width];
        const move = (moved: PointerEvent): void => resize(fromWidth + moved.clientX - fromX);
        edge.addEventListener('pointermove', move);
        edge.addEventListener('lostpointercapture', () => edge.removeEventListener('pointermove', move), {
          once: true,
        });
      }}
    />
  );
}
