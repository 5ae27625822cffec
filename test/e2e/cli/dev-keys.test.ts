// The keys of `svc dev` on a terminal.

import { existsSync } from 'node:fs';
import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { pidWorker } from '../../support/engine/project-engine.ts';
import { OnTerminal, terminalsMissing } from '../../support/engine/pty.ts';
import { freePort } from '../../support/free-port.ts';
import { waitFor } from '../../support/wait-for.ts';
import { ANY_PORT, makeFolder, runSvc, SVC } from './cli-process.ts';

const CONFIG = `${ANY_PORT}  - {name: svc-http, config: {port: 0}}\n  - {name: orders, path: ./orders}\n`;
const CONSOLE_PORT = 3113;
const missing = terminalsMissing();
if (missing !== undefined) process.stderr.write(`The keys of svc dev are not tested. ${missing}\n`);

describe.skipIf(missing !== undefined)('on a terminal, svc dev', { timeout: 120_000 }, () => {
  let dev: OnTerminal;
  let folder: string;
  let removeFolder: () => Promise<void>;

  beforeAll(async () => {
    const made = await makeFolder({ 'svc-config.yaml': CONFIG });
    folder = made.path;
    removeFolder = made.remove;
    await mkdir(join(folder, 'orders'));
    for (const [file, text] of Object.entries(pidWorker('orders'))) await writeFile(join(folder, 'orders', file), text);
    // Takes the place of the desktop's browser.
    await mkdir(join(folder, 'bin'));
    await writeFile(join(folder, 'bin/xdg-open'), '#!/bin/sh\necho "$1" >"$OPENED"\n');
    await chmod(join(folder, 'bin/xdg-open'), 0o755);
    const env = { PATH: `${join(folder, 'bin')}:${process.env.PATH}`, OPENED: join(folder, 'opened') };
    const offset = String((await freePort()) - CONSOLE_PORT);
    dev = new OnTerminal([process.execPath, SVC, 'dev', '--port-offset', offset], { cwd: folder, env });
    await dev.shows('orders is up');
  }, 90_000);

  afterAll(async () => {
    await dev[Symbol.asyncDispose]();
    await removeFolder();
  });

  test('o opens the console in the browser', async () => {
    const [, url = ''] = /Console: (\S+)/.exec(dev.screen) ?? [];
    dev.press('o');
    await waitFor('the browser is asked', () => existsSync(join(folder, 'opened')), 30_000);
    await waitFor('the browser is opened', async () => (await readFile(join(folder, 'opened'), 'utf8')) === `${url}\n`);
  });

  test('l switches between the output of all workers and of each one', async () => {
    dev.press('l');
    await dev.shows('· lines of orders');
    dev.press('l');
    await dev.shows('· lines of all workers');
  });

  test('r restarts the workers that are shown', async () => {
    const times = dev.count('orders is up');
    dev.press('r');
    await dev.shows('orders is up', times + 1);
  });

  test('t asks for a function and its payload, calls it, and then accepts keys again', async () => {
    const [, SVC_URL = ''] = /workers\s+(ws:\S+)/.exec(dev.screen) ?? [];
    const isThere = async () => (await runSvc(['functions', 'info', 'orders::pid'], { env: { SVC_URL } })).code === 0;
    await waitFor('the worker has registered', isThere, 60_000);
    dev.press('t');
    await dev.shows('call (id, then key=value … or JSON): ');
    dev.press('orders::pid {"a":1}\r');
    await dev.shows('"name":"orders"');
    dev.press('t');
    await dev.shows('call (id, then key=value … or JSON): ', 2);
    dev.press('orders::pdi a=1 b:=2\r');
    await dev.shows('orders::pdi failed: Function orders::pdi not found');
    const times = dev.count('· lines of orders');
    dev.press('l');
    await dev.shows('· lines of orders', times + 1);
  });

  test('q stops the engine', async () => {
    dev.press('q');
    expect(await dev.ends()).toBe(0);
  });
});
