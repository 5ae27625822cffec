// Takes screenshots of the console of a busy engine: a demo that fills every page.
//
//   npm run screenshots                    the twelve of README and docs, into docs/images
//   npx node bin/console-screenshots.js <folder> [page …]    every page 1440 and 390 pixels wide, dark and light

import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { launchChromium } from '../test/browser/support/chromium.ts';
import { ConsoleScene, DEMO_MODULES } from '../test/browser/support/console-scene.ts';
import { smallPng } from './small-png.js';

const PAGES = {
  dashboard: '/',
  functions: '/functions?id=orders::create',
  overview: '/functions?id=billing::charge&tab=overview',
  code: '/functions?id=orders::create&tab=code',
  triggers: '/triggers?kind=http&id={api::order_by_id}',
  cron: '/triggers?id={stock::nightly}',
  queues: '/queues?queue=mail&tab=dead',
  states: '/states?scope=orders&key=o-00003',
  streams: '/streams',
  traces: '/traces',
  trace: '/traces/{trace}',
  logs: '/logs',
  flow: '/flow',
  workers: '/workers?id={shop}',
  config: '/config',
  alerts: '/config?tab=alerts',
  configuration: '/config?tab=configuration',
  preferences: '/config?tab=preferences',
  nomatch: '/functions?q=zzz',
};
/** Screenshots for README and docs. Those in `LIGHT` use the light theme. */
const KEPT = [
  ...['dashboard', 'functions', 'triggers', 'queues', 'states', 'streams'],
  ...['traces', 'trace', 'logs', 'flow', 'workers', 'config'],
];
const LIGHT = ['functions', 'queues', 'flow'];
const FILL_MS = 20_000;
/** Time for lazy parts, charts and the first live figures. */
const SETTLE_MS = 2_500;
const LOAD_MS_MAX = 30_000;

const [folder = join(import.meta.dirname, '../docs/images'), ...wanted] = process.argv.slice(2);
const isForDocs = process.argv.length === 2;
mkdirSync(folder, { recursive: true });
const scene = await ConsoleScene.start({
  workers: ['billing', 'shop', 'office'],
  modules: DEMO_MODULES,
  busy: true,
  flags: ['--enable-flow'],
});
const browser = await launchChromium();
try {
  await new Promise((resolve) => setTimeout(resolve, FILL_MS));
  if (isForDocs) for (const name of KEPT) await take(name, LIGHT.includes(name) ? 'light' : 'dark', 1440, name);
  else await takeAll();
} finally {
  await browser.close();
  await scene[Symbol.asyncDispose]();
}

async function takeAll() {
  const names = Object.keys(PAGES).filter((name) => wanted.length === 0 || wanted.includes(name));
  for (const theme of ['dark', 'light']) {
    for (const width of [1440, 390]) {
      for (const name of names) await take(name, theme, width, `${name}-${width}-${theme}`);
    }
  }
}

/** Ids that differ for each engine: triggers by their functions, workers by their names, the longest trace. */
async function readPlaces() {
  const triggers = await (await fetch(`${scene.url}/api/triggers?limit=1000`)).json();
  const search = { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{"limit":100}' };
  const traces = await (await fetch(`${scene.url}/api/traces/search`, search)).json();
  const [longest] = traces.items.toSorted((a, b) => b.span_count - a.span_count);
  const workers = await (await fetch(`${scene.url}/api/workers`)).json();
  const ids = [...triggers.items.map(({ function_id: name, id }) => [name, id])];
  for (const { name, id } of workers.items) ids.push([name, id]);
  return new Map([...ids, ['trace', longest?.trace_id ?? 'none']]);
}

async function take(name, theme, width, file) {
  // A busy engine keeps a trace in memory for less than a minute.
  const places = await readPlaces();
  const context = await browser.newContext({ viewport: { width, height: 900 }, colorScheme: theme });
  const page = await context.newPage();
  page.on('pageerror', (error) => process.stdout.write(`${name}: page error: ${error.message}\n`));
  page.on('console', (line) => line.type() === 'error' && process.stdout.write(`${name}: ${line.text()}\n`));
  const path = PAGES[name].replace(/\{([^}]+)\}/g, (_whole, place) => encodeURIComponent(places.get(place) ?? 'none'));
  await page.goto(`${scene.url}${path}`);
  await page.locator('.skeleton').first().waitFor({ state: 'detached', timeout: LOAD_MS_MAX });
  await page.waitForTimeout(SETTLE_MS);
  writeFileSync(join(folder, `${file}.png`), smallPng(await page.screenshot()));
  process.stdout.write(`${file}.png\n`);
  await context.close();
}
