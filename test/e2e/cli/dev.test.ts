// `svc dev`: the engine and its workers in one terminal, restarted when their files change.

import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { pidWorker } from '../../support/engine/project-engine.ts';
import { freePort } from '../../support/free-port.ts';
import { waitFor } from '../../support/wait-for.ts';
import { ANY_PORT, makeFolder, spawnSvc } from './cli-process.ts';

const PATIENCE_MS = 30_000;
const CONFIG = `${ANY_PORT}  - {name: svc-http, config: {port: 0}}\n  - {name: svc-state}\n  - {name: orders, path: ./orders}\n`;

class Dev implements AsyncDisposable {
  readonly child: ChildProcess;
  readonly folder: string;
  readonly #remove: () => Promise<void>;
  out = '';
  err = '';

  private constructor(folder: string, args: readonly string[], remove: () => Promise<void>) {
    this.folder = folder;
    this.#remove = remove;
    this.child = spawnSvc(['dev', ...args], { cwd: folder });
    this.child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      this.out += text;
    });
    this.child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      this.err += text;
    });
  }

  /** Without a console, unless the test is about it: all tests would share its port. */
  static async start(...given: string[]): Promise<Dev> {
    const args = given.includes('--port-offset') ? given : [...given, '--no-console'];
    const { path, remove } = await makeFolder({ 'svc-config.yaml': CONFIG });
    for (const name of ['orders', 'mail']) {
      await mkdir(join(path, name));
      for (const [file, text] of Object.entries(pidWorker(name))) await writeFile(join(path, name, file), text);
    }
    return new Dev(path, args, remove);
  }

  async prints(text: string, times = 1): Promise<void> {
    await waitFor(`it prints '${text}'`, () => this.out.split(text).length > times, PATIENCE_MS).catch(
      (error: Error) => {
        throw new Error(`${error.message}; it printed:\n${this.out}\n${this.err}`);
      },
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.child.exitCode === null && this.child.signalCode === null) {
      this.child.kill('SIGTERM');
      await once(this.child, 'exit');
    }
    await this.#remove();
  }
}

test('each line starts with the name of its worker, and a change restarts the worker', {
  timeout: 90_000,
}, async () => {
  await using dev = await Dev.start();
  await dev.prints('orders │ orders is up');
  const program = join(dev.folder, 'orders', 'worker.mjs');
  await writeFile(program, `${await readFile(program, 'utf8')}\nconsole.log('the second');\n`);
  await dev.prints('orders │ the second');
  expect(existsSync(join(dev.folder, 'data'))).toBe(false);
  expect(dev.err).toMatch(/Data is lost when the engine ends\. To keep it in \S+data\S*: .*svc dev --keep/);
  dev.child.kill('SIGINT');
  expect(await once(dev.child, 'exit')).toEqual([0, null]);
});

test('changes of the configuration apply, and the stores stay in memory', { timeout: 90_000 }, async () => {
  await using dev = await Dev.start();
  await dev.prints('orders │ orders is up');
  await writeFile(join(dev.folder, 'svc-config.yaml'), `${CONFIG}  - {name: mail, path: ./mail}\n`);
  await dev.prints('mail   │ mail is up');
  expect(dev.err).not.toContain('can only change with a new start');
});

test('the console is served and connects to the engine', { timeout: 90_000 }, async () => {
  await using dev = await Dev.start('--port-offset', String((await freePort()) - 3113));
  const [, url = ''] = await waitFor(
    'the address is printed',
    () => /Console: (\S+)/.exec(dev.err) ?? undefined,
    PATIENCE_MS,
  );
  expect(await (await fetch(url)).text()).toContain('<title>');
  expect((await fetch(new URL('api/status', url))).status).toBe(200);
});

test('--keep uses the stores of the configuration', { timeout: 90_000 }, async () => {
  await using dev = await Dev.start('--keep');
  await dev.prints('orders │ orders is up');
  expect(existsSync(join(dev.folder, 'data'))).toBe(true);
  expect(dev.err).not.toContain('is lost');
});
