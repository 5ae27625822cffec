// The time ruler above the rows of a trace.

import { type ReactNode, useCallback } from 'react';
import { rulerMarks, rulerText, type TimeRange, xOf } from '../../../kit/charts/time-scale.ts';
import { Canvas, type Draw } from './canvas.tsx';
import type { CanvasColours } from './colours.ts';

export function Ruler({ range, colours }: { readonly range: TimeRange; readonly colours: CanvasColours }): ReactNode {
  const draw: Draw = useCallback(
    (context, size) => {
      const scale = { ...range, widthPx: size.width };
      const marks = rulerMarks(scale);
      const step = (marks[1] ?? 0) - (marks[0] ?? 0) || range.toMs - range.fromMs;
      context.font = colours.font;
      context.textBaseline = 'middle';
      for (const mark of marks) {
        const x = Math.round(xOf(scale, mark));
        context.fillStyle = colours.line;
        context.fillRect(x, size.height - 6, 1, 6);
        context.fillStyle = colours.faint;
        const text = rulerText(mark, step);
        if (x + 4 + context.measureText(text).width < size.width) context.fillText(text, x + 4, size.height / 2);
      }
    },
    [range, colours],
  );
  return <Canvas draw={draw} className="block h-6 w-full" />;
}
