// The browser and the console of a suite: both start before its first test and end after its last one.

import type { Browser } from 'playwright-core';
import { afterAll, beforeAll } from 'vitest';
import { launchChromium } from './chromium.ts';
import { ConsoleWorld } from './console-world.ts';

const START_MS_MAX = 60_000;

export interface ConsoleSite {
  readonly world: ConsoleWorld;
  readonly browser: Browser;
}

/** To be called in a suite. Both may be used in its tests and in hooks that follow. */
export function consoleSite(options: Parameters<typeof ConsoleWorld.start>[0] = {}): ConsoleSite {
  let world: ConsoleWorld | undefined;
  let browser: Browser | undefined;
  beforeAll(async () => {
    [world, browser] = await Promise.all([ConsoleWorld.start(options), launchChromium()]);
  }, START_MS_MAX);
  afterAll(async () => {
    await browser?.close();
    await world?.[Symbol.asyncDispose]();
  });
  return {
    get world() {
      return started(world);
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
