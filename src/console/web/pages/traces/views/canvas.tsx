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
import { rulerMarks, rulerText, type TimeRange, xOf } from '../../../kit/charts/time-scale.ts';
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
