// The canvas that waterfall, minimap, flame graph and scatter plot share: as large as its container, sharp on every
// screen, drawn before the frame in which its data change. Its content must also be readable elsewhere: assistive
// technology only gets its label. The time ruler above the rows is one.

import {
  type ComponentProps,
  type ReactNode,
  type RefObject,
  useCallback,
  useEffect,
  useLayoutEffect,
  useRef,
  useState,
} from 'react';
import { flushSync } from 'react-dom';
import { rulerText, type TimeRange, type TimeScale, xOf } from '../../../kit/charts/time-scale.ts';
import { formatDuration } from '../../../kit/charts/times.ts';
import { axisMarks, type Gap } from '../logic/trace-gaps.ts';
import type { CanvasColours } from './colours.ts';

export interface CanvasSize {
  readonly width: number;
  readonly height: number;
}

export type Draw = (context: CanvasRenderingContext2D, size: CanvasSize) => void;

export interface CanvasProps extends Omit<ComponentProps<'canvas'>, 'ref' | 'width' | 'height'> {
  /** A new function causes a new drawing: memoise it. */
  readonly draw: Draw;
  /** Its label, left out where the rows next to it say the same. */
  readonly label?: string;
  readonly onSize?: (size: CanvasSize) => void;
}

export function Canvas({ draw, label, onSize, ...rest }: CanvasProps): ReactNode {
  const canvas = useRef<HTMLCanvasElement>(null);
  const [size, setSize] = useState<CanvasSize>({ width: 0, height: 0 });
  const heard = useRef(onSize);
  heard.current = onSize;
  useLayoutEffect(() => {
    const element = canvas.current;
    if (element === null) return;
    const measure = (): void => {
      const next = { width: element.clientWidth, height: element.clientHeight };
      setSize((now) => (now.width === next.width && now.height === next.height ? now : next));
      heard.current?.(next);
    };
    measure();
    // Drawn before the frame in which it is larger: otherwise the old picture would be stretched for one frame.
    const observer = new ResizeObserver(() => flushSync(measure));
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  useLayoutEffect(() => {
    const element = canvas.current;
    const context = element?.getContext('2d');
    if (!element || !context || size.width === 0 || size.height === 0) return;
    const ratio = devicePixelRatio;
    const [width, height] = [Math.round(size.width * ratio), Math.round(size.height * ratio)];
    if (element.width !== width || element.height !== height) {
      element.width = width;
      element.height = height;
    }
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, size.width, size.height);
    draw(context, size);
  }, [draw, size]);
  return label === undefined ? (
    <canvas ref={canvas} aria-hidden {...rest} />
  ) : (
    <canvas ref={canvas} role="img" aria-label={label} {...rest} />
  );
}

/** The position of a pointer within its element. */
export function placeOf(event: {
  readonly clientX: number;
  readonly clientY: number;
  readonly currentTarget: Element;
}): {
  readonly x: number;
  readonly y: number;
} {
  const box = event.currentTarget.getBoundingClientRect();
  return { x: event.clientX - box.left, y: event.clientY - box.top };
}

export function useHeight(scroller: RefObject<HTMLElement | null>): number {
  const [height, setHeight] = useState(0);
  useEffect(() => {
    const element = scroller.current;
    if (element === null) return;
    const observer = new ResizeObserver(() => setHeight(element.clientHeight));
    observer.observe(element);
    return () => observer.disconnect();
  }, [scroller]);
  return height;
}

interface RulerProps {
  readonly range: TimeRange;
  readonly colours: CanvasColours;
  readonly gaps: readonly Gap[];
}

export function Ruler({ range, colours, gaps }: RulerProps): ReactNode {
  const draw: Draw = useCallback(
    (context, size) => {
      const scale = { ...range, widthPx: size.width };
      const marks = axisMarks(scale, gaps);
      const step = (marks[1]?.realMs ?? 0) - (marks[0]?.realMs ?? 0) || range.toMs - range.fromMs;
      context.font = colours.font;
      context.textBaseline = 'middle';
      for (const gap of gaps) drawGapMark(context, size, scale, gap, colours);
      for (const mark of marks) {
        const x = Math.round(xOf(scale, mark.atMs));
        context.fillStyle = colours.line;
        context.fillRect(x, size.height - 6, 1, 6);
        context.fillStyle = colours.faint;
        const text = rulerText(mark.realMs, step);
        const isFree = !gaps.some(({ shownFromMs, shownToMs }) => isNear(scale, mark.atMs, shownFromMs, shownToMs));
        if (isFree && x + 4 + context.measureText(text).width < size.width)
          context.fillText(text, x + 4, size.height / 2);
      }
    },
    [range, colours, gaps],
  );
  return <Canvas draw={draw} className="block h-6 w-full" />;
}

/** The room of the text of a mark. */
const MARK_TEXT_PX = 64;

/** Whether the text of a mark would be on that of a pause. */
function isNear(scale: TimeScale, atMs: number, fromMs: number, toMs: number): boolean {
  const x = xOf(scale, atMs);
  return x > xOf(scale, fromMs) - MARK_TEXT_PX && x < xOf(scale, toMs) + MARK_TEXT_PX / 2;
}

/** How long the pause is, between two strokes: the axis is cut here. */
function drawGapMark(
  context: CanvasRenderingContext2D,
  size: CanvasSize,
  scale: TimeScale,
  gap: Gap,
  colours: CanvasColours,
): void {
  const [from, to] = [xOf(scale, gap.shownFromMs), xOf(scale, gap.shownToMs)];
  if (to < 0 || from > size.width) return;
  context.strokeStyle = colours.muted;
  context.lineWidth = 1;
  context.beginPath();
  for (const x of [from, to]) {
    context.moveTo(x - 3, size.height);
    context.lineTo(x + 3, size.height - 10);
  }
  context.stroke();
  context.fillStyle = colours.muted;
  const text = formatDuration(gap.toMs - gap.fromMs);
  const width = context.measureText(text).width;
  const x = Math.min(Math.max((from + to) / 2 - width / 2, 0), size.width - width);
  context.fillText(text, x, size.height / 2 - 4);
}
