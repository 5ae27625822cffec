// A chart the size of a word. A missing measurement is a hole in the line, not a zero.

import type { ReactNode } from 'react';

export interface SparklineProps {
  readonly values: readonly (number | null)[];
  /** A description for screen readers; "" where a number next to it says the same. */
  readonly label: string;
  readonly width?: number;
  readonly height?: number;
  readonly tone?: 'accent' | 'bad';
}

export function Sparkline({ values, label, width = 72, height = 20, tone = 'accent' }: SparklineProps): ReactNode {
  const path = sparkPath(values, width, height);
  return (
    <svg
      role={label === '' ? undefined : 'img'}
      aria-hidden={label === ''}
      aria-label={label === '' ? undefined : label}
      width={width}
      height={height}
      viewBox={`0 0 ${width} ${height}`}
      className={tone === 'bad' ? 'text-bad' : 'text-accent'}
    >
      <path
        d={path}
        fill="none"
        stroke="currentColor"
        strokeWidth="1.25"
        strokeLinejoin="round"
        strokeLinecap="round"
      />
    </svg>
  );
}

/** From 0 to the largest value. A flat line at the bottom where all are 0, a dot where only one value is known. */
export function sparkPath(values: readonly (number | null)[], width: number, height: number): string {
  const top = Math.max(0, ...values.map((value) => value ?? 0));
  const step = values.length > 1 ? width / (values.length - 1) : 0;
  let pen = 'M';
  const steps = values.map((value, at) => {
    if (value === null) {
      pen = 'M';
      return '';
    }
    const y = top === 0 ? height - 1 : height - 1 - (value / top) * (height - 2);
    const isFirst = pen === 'M';
    const part = `${pen}${(at * step).toFixed(1)} ${y.toFixed(1)}${isFirst ? 'h0' : ''}`;
    pen = 'L';
    return part;
  });
  return steps.join('');
}
