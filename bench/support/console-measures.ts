// Measurements inside a page: the time between frames, and long tasks.

import type { Page } from 'playwright-core';

export interface Row {
  readonly what: string;
  readonly budget: number;
  readonly unit: string;
  readonly value: number;
}

export interface Frames {
  readonly p95: number;
  readonly worst: number;
  /** Tasks over 50 ms. */
  readonly longTasks: number;
}

interface Watch {
  readonly frames: number[];
  longTasks: number;
  isOn: boolean;
}

declare global {
  interface Window {
    benchWatch: Watch;
  }
}

/** The frames of the page while the action runs. */
export async function frameTimes(page: Page, action: () => Promise<void>): Promise<Frames> {
  await page.evaluate(() => {
    const watch: Watch = { frames: [], longTasks: 0, isOn: true };
    window.benchWatch = watch;
    new PerformanceObserver((list) => {
      watch.longTasks += list.getEntries().length;
    }).observe({ type: 'longtask' });
    let last = performance.now();
    const next = (now: number): void => {
      watch.frames.push(now - last);
      last = now;
      if (watch.isOn) requestAnimationFrame(next);
    };
    requestAnimationFrame(next);
  });
  await action();
  const { frames, longTasks } = await page.evaluate(() => {
    window.benchWatch.isOn = false;
    return window.benchWatch;
  });
  const sorted = frames.slice(1).sort((a, b) => a - b);
  const at = (share: number): number => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
  return { p95: at(0.95), worst: at(1), longTasks };
}

/** Waits until the page is painted. */
export function waitForPaint(page: Page): Promise<void> {
  return page.evaluate(
    () => new Promise<void>((resolve) => requestAnimationFrame(() => requestAnimationFrame(() => resolve()))),
  );
}
