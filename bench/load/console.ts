// The speed budget of the console's pages: how long a user waits, in a real browser over a real engine with generated
// data. Medians over fresh pages. A figure over its budget is printed as a miss, and is an open defect.
//
//   node bench/load/console.ts                   full size, three rounds
//   node bench/load/console.ts --small        a hundredth of the data, one round: shows that the bench runs

import { cpus } from 'node:os';
import { parseArgs } from 'node:util';
import type { Browser, Page } from 'playwright-core';
import { launchChromium } from '../../test/browser/support/chromium.ts';
import { ConsoleScene } from '../../test/browser/support/console-scene.ts';
import { fillEngine, invokeAddress } from '../support/console-fill.ts';
import { frameTimes, type Row, waitForPaint } from '../support/console-measures.ts';

const { values } = parseArgs({ options: { small: { type: 'boolean', default: false } } });
const ROUNDS = values.small ? 1 : 3;
const SCALE = values.small ? 0.01 : 1;

const scene = await ConsoleScene.start({ workers: ['billing', 'shop'], flags: ['--enable-flow'] });
const browser = await launchChromium();
const rows: Row[] = [];
try {
  const filled = await fillEngine(scene, SCALE);
  process.stdout.write(`filled: ${JSON.stringify(filled)}\n`);
  for (let round = 0; round < ROUNDS; round++) await measureRound(filled.scope);
  print();
} finally {
  await browser.close();
  await scene[Symbol.asyncDispose]();
}

async function measureRound(scope: string): Promise<void> {
  await measured('first counters, cold', 800, firstCounters);
  await measured('first counters, cold, 4× slower CPU', 2_500, async (page) => {
    const session = await page.context().newCDPSession(page);
    await session.send('Emulation.setCPUThrottlingRate', { rate: 4 });
    return firstCounters(page);
  });
  await pageChanges();
  await scrolling(scope);
  await measured('open a value of 1 MiB', 300, (page) => openValue(page, 'one-mib'));
  await measured('open a value of 4 MiB', 900, (page) => openValue(page, 'four-mib'));
  await measured('flow laid out', 400, async (page) => {
    await page.goto(`${scene.url}/functions`);
    await page.getByRole('grid').waitFor();
    return time(async () => {
      await page.getByRole('link', { name: /^Flow/ }).click();
      await page.locator('.react-flow__node').first().waitFor();
    });
  });
  await liveLoad();
}

function firstCounters(page: Page): Promise<number> {
  return time(async () => {
    await page.goto(scene.url);
    await page.getByText('Connected').first().waitFor();
  });
}

/** A fresh page for each figure. The action returns milliseconds. */
async function measured(what: string, budget: number, action: (page: Page) => Promise<number>): Promise<void> {
  const page = await newPage(browser);
  try {
    rows.push({ what, budget, unit: 'ms', value: await action(page) });
  } catch (error) {
    const reason = error instanceof Error ? error.message.split('\n')[0] : String(error);
    process.stdout.write(`${what}: not measured: ${reason}\n`);
  } finally {
    await page.context().close();
  }
}

async function newPage(from: Browser): Promise<Page> {
  const context = await from.newContext({ viewport: { width: 1440, height: 900 } });
  return context.newPage();
}

async function time(action: () => Promise<unknown>): Promise<number> {
  const began = performance.now();
  await action();
  return performance.now() - began;
}

async function pageChanges(): Promise<void> {
  const change = (page: Page, name: RegExp, heading: string) =>
    time(async () => {
      await page.getByRole('navigation').getByRole('link', { name }).click();
      await page.getByRole('heading', { name: heading, level: 1 }).waitFor();
      await waitForPaint(page);
    });
  await measured('page change, not cached', 400, async (page) => {
    await page.goto(`${scene.url}/functions`);
    await page.getByRole('grid').waitFor();
    return change(page, /^Triggers/, 'Triggers');
  });
  await measured('page change, cached', 100, async (page) => {
    await page.goto(`${scene.url}/functions`);
    await page.getByRole('grid').waitFor();
    await change(page, /^Triggers/, 'Triggers');
    return change(page, /^Functions/, 'Functions');
  });
}

async function scrolling(scope: string): Promise<void> {
  const page = await newPage(browser);
  await page.goto(`${scene.url}/states?scope=${encodeURIComponent(scope)}`);
  const grid = page.getByRole('grid').first();
  await grid.waitFor();
  await grid.hover();
  const frames = await frameTimes(page, async () => {
    for (let turn = 0; turn < 60; turn++) await page.mouse.wheel(0, 600);
  });
  rows.push(
    { what: 'scroll a long list, frame p95', budget: 20, unit: 'ms', value: frames.p95 },
    { what: 'scroll a long list, worst frame', budget: 50, unit: 'ms', value: frames.worst },
    { what: 'rows in the document while it is listed', budget: 200, unit: 'rows', value: await rowCount(page) },
  );
  await page.context().close();
}

function rowCount(page: Page): Promise<number> {
  return page.evaluate(() => document.querySelectorAll('[role=row]').length);
}

async function openValue(page: Page, key: string): Promise<number> {
  await page.goto(`${scene.url}/states?scope=values`);
  const row = page.getByRole('row').filter({ hasText: key });
  await row.waitFor();
  return time(async () => {
    await row.click();
    await page.getByRole('complementary').getByRole('tree').waitFor();
    await waitForPaint(page);
  });
}

/** Logs while records arrive: the cost of following them. */
async function liveLoad(): Promise<void> {
  const page = await newPage(browser);
  await page.goto(`${scene.url}/logs`);
  await page.getByRole('heading', { name: 'Logs', level: 1 }).waitFor();
  const seconds = values.small ? 5 : 60;
  const frames = await frameTimes(page, () => writeLogs(seconds, 1_000));
  rows.push(
    { what: 'live, about 1 000 events/s, frame p95', budget: 20, unit: 'ms', value: frames.p95 },
    { what: 'live, long tasks a minute', budget: 0, unit: 'tasks', value: (frames.longTasks * 60) / seconds },
  );
  await page.context().close();
}

async function writeLogs(seconds: number, perSecond: number): Promise<void> {
  const calls = 20;
  const headers = { 'content-type': 'application/json' };
  for (let second = 0; second < seconds; second++) {
    const ends = performance.now() + 1_000;
    for (let sent = 0; sent < perSecond; sent += calls) {
      const body = JSON.stringify({
        function_id: 'engine::log::info',
        payload: { message: `record ${second} ${sent}`, data: { sent } },
      });
      const send = () => fetch(invokeAddress(scene), { method: 'POST', headers, body });
      await Promise.all(Array.from({ length: calls }, send));
    }
    await new Promise((resolve) => setTimeout(resolve, Math.max(0, ends - performance.now())));
  }
}

function print(): void {
  const [cpu] = cpus();
  process.stdout.write(
    `\n${cpu?.model ?? 'CPU'}, ${cpus().length} cores, Node ${process.version}, ${ROUNDS} rounds\n\n`,
  );
  process.stdout.write('| what | median | budget | |\n|---|---|---|---|\n');
  for (const what of new Set(rows.map((row) => row.what))) {
    const of = rows.filter((row) => row.what === what);
    const sorted = of.map(({ value }) => value).sort((a, b) => a - b);
    const median = sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
    const { budget = 0, unit = 'ms' } = of[0] ?? {};
    const verdict = median <= budget ? '' : 'over budget';
    process.stdout.write(`| ${what} | ${median.toFixed(1)} ${unit} | ≤ ${budget} | ${verdict} |\n`);
  }
}
