// The browser and the console of a suite: both start before its first test and end after its last one.

import type { Browser } from 'playwright-core';
import { afterAll, beforeAll } from 'vitest';
import { launchChromium } from './chromium.ts';
import { ConsoleScene } from './console-scene.ts';

const START_MS_MAX = 60_000;

export interface ConsoleSite {
  readonly scene: ConsoleScene;
  readonly browser: Browser;
}

/** To be called in a suite. Both may be used in its tests and in hooks that follow. */
export function consoleSite(options: Parameters<typeof ConsoleScene.start>[0] = {}): ConsoleSite {
  let scene: ConsoleScene | undefined;
  let browser: Browser | undefined;
  beforeAll(async () => {
    [scene, browser] = await Promise.all([ConsoleScene.start(options), launchChromium()]);
  }, START_MS_MAX);
  afterAll(async () => {
    await browser?.close();
    await scene?.[Symbol.asyncDispose]();
  });
  return {
    get scene() {
      return started(scene);
    },
    get browser() {
      return started(browser);
    },
  };
}

function started<T>(part: T | undefined): T {
  if (part === undefined) throw new Error('The console has not started');
  return part;
}
