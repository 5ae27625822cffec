// Workers in development: `svc worker init`, `svc worker dev`, and workers that are not connected in `svc worker list`.

import { type ChildProcess, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { ProjectEngine, pidWorker } from '../../support/engine/project-engine.ts';
import { waitFor } from '../../support/wait-for.ts';
import { ANY_PORT, makeFolder, runSvc, spawnSvc } from './cli-process.ts';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const PATIENCE_MS = 20_000;

/** The command as a process, with its output so far. */
class Dev implements AsyncDisposable {
  readonly child: ChildProcess;
  said = '';

  constructor(engine: ProjectEngine, ...args: string[]) {
    this.child = spawnSvc(['worker', 'dev', ...args], { cwd: engine.folder, env: { SVC_URL: engine.url } });
    for (const stream of [this.child.stdout, this.child.stderr]) {
      stream?.setEncoding('utf8').on('data', (text: string) => {
        this.said += text;
      });
    }
  }

  async says(text: string, times = 1): Promise<void> {
    const what = `it says '${text}' ${times} times`;
    await waitFor(what, () => this.said.split(text).length > times, PATIENCE_MS).catch((error: Error) => {
      throw new Error(`${error.message}; it said:\n${this.said}`);
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.child.exitCode !== null || this.child.signalCode !== null) return;
    this.child.kill('SIGTERM');
    await once(this.child, 'exit');
  }
}

async function pidOf(engine: ProjectEngine): Promise<number> {
  const answer = await engine.call('orders::pid');
  return Number((answer as { pid: number }).pid);
}

const TOKEN = 'a-token-of-more-than-thirty-two-bytes';

describe('svc worker dev', () => {
  const files = { orders: pidWorker('orders') };

  test('[X2] passes its token on to the worker', { timeout: 60_000 }, async () => {
    const folder = await makeFolder({ 'svc-config.yaml': `bridge_token: ${TOKEN}\n${ANY_PORT}`, token: TOKEN });
    await mkdir(join(folder.path, 'orders'));
    for (const [name, text] of Object.entries(files.orders)) await writeFile(join(folder.path, 'orders', name), text);
    await using engine = await ProjectEngine.startIn(folder.path, {}, folder.remove);
    await using dev = new Dev(engine, './orders', '--token-file', 'token');
    await dev.says('· registered');
  });

  test('restarts a worker when its files change, and every call finds a worker', { timeout: 60_000 }, async () => {
    await using engine = await ProjectEngine.start(ANY_PORT, files);
    await using dev = new Dev(engine, './orders');
    await dev.says('registered');
    const first = await pidOf(engine);
    const program = join(engine.folder, 'orders', 'worker.mjs');
    await writeFile(program, `${await readFile(program, 'utf8')}\nconsole.log('second');\n`);
    // Every call during the restart is answered: a failed call fails the test.
    await waitFor('another process answers', async () => (await pidOf(engine)) !== first, PATIENCE_MS);
    await dev.says('second');
    await dev.says('ended: ');
    expect(await pidOf(engine)).not.toBe(first);
  });

  test('prints a line for every call, with its outcome', { timeout: 60_000 }, async () => {
    const more = "svc.registerFunction('orders::fail', () => { throw new Error('no'); });";
    await using engine = await ProjectEngine.start(ANY_PORT, { orders: pidWorker('orders', more) });
    await using dev = new Dev(engine, './orders');
    await dev.says('registered');
    await pidOf(engine);
    await engine.call('orders::fail').catch(() => {});
    await waitFor(
      'both calls are shown',
      () => /orders::pid ok .* trace=[\da-f]{16}/.test(dev.said) && /orders::fail error .* trace=/.test(dev.said),
      PATIENCE_MS,
    ).catch((error: Error) => {
      throw new Error(`${error.message}; it said:\n${dev.said}`);
    });
  });

  test('prints type errors, runs the worker anyway, and reports when no error is left', {
    timeout: 90_000,
  }, async () => {
    const typed = {
      ...pidWorker('orders'),
      'tsconfig.json': '{"compilerOptions": {"strict": true, "types": [], "module": "nodenext"}, "include": ["*.ts"]}',
      'price.ts': "export const price: number = 'ten';\n",
    };
    await using engine = await ProjectEngine.start(ANY_PORT, { orders: typed });
    await mkdir(join(engine.folder, 'node_modules'));
    await symlink(join(ROOT, 'node_modules/typescript'), join(engine.folder, 'node_modules/typescript'));
    await using dev = new Dev(engine, './orders');
    await dev.says('registered');
    await dev.says("price.ts(1,14): error TS2322: Type 'string' is not assignable to type 'number'.");
    await pidOf(engine);
    await writeFile(join(engine.folder, 'orders', 'price.ts'), 'export const price: number = 10;\n');
    await dev.says('types: no errors left');
  });

  test('keeps the old process running while the new one fails to start', { timeout: 60_000 }, async () => {
    await using engine = await ProjectEngine.start(ANY_PORT, files);
    await using dev = new Dev(engine, './orders');
    await dev.says('registered');
    const first = await pidOf(engine);
    const program = join(engine.folder, 'orders', 'worker.mjs');
    const text = await readFile(program, 'utf8');
    await writeFile(program, 'this is no program');
    await dev.says('the old process keeps running');
    expect(dev.said).toContain('SyntaxError');
    expect(await pidOf(engine)).toBe(first);
    await writeFile(program, text);
    await dev.says('registered', 2);
  });

  test('sets the variables of --env-file, and opens a debugger port with --inspect', { timeout: 60_000 }, async () => {
    const program = pidWorker('orders', "console.log('colour', process.env.COLOUR);");
    await using engine = await ProjectEngine.start(ANY_PORT, { orders: program });
    await writeFile(join(engine.folder, '.env'), 'COLOUR=blue\n');
    await using dev = new Dev(engine, './orders', '--env-file', '.env', '--inspect');
    await dev.says('colour blue');
    await dev.says('Debugger listening on ws://127.0.0.1:');
  });

  test('leaves no process running', { timeout: 60_000 }, async () => {
    await using engine = await ProjectEngine.start(ANY_PORT, files);
    await using dev = new Dev(engine, './orders');
    await dev.says('registered');
    const pid = await pidOf(engine);
    dev.child.kill('SIGINT');
    expect(await once(dev.child, 'exit')).toEqual([130, null]);
    await waitFor('it is gone', () => spawnSync('kill', ['-0', String(pid)]).status !== 0, PATIENCE_MS);
  });

  test('reports the problems of a manifest', async () => {
    await using engine = await ProjectEngine.start(ANY_PORT);
    const done = await engine.svc('worker', 'dev', './nothing');
    expect(done).toMatchObject({ code: 2 });
    expect(done.stderr).toContain('does not exist');
  });
});

describe('svc worker init', () => {
  test.each(['ts', 'js'])('creates a worker in %s that passes its own test', { timeout: 120_000 }, async (lang) => {
    const folder = await makeFolder();
    const done = await runSvc(['worker', 'init', 'workers/billing', '--lang', lang], { cwd: folder.path });
    expect(done).toMatchObject({ code: 0, stderr: '' });
    expect(done.stdout).toContain('Run it: svc worker add workers/billing');
    const project = join(folder.path, 'workers/billing');
    await mkdir(join(project, 'node_modules'));
    for (const [name, place] of [
      ['svc', '.'],
      ['svc-sdk', 'src/sdk'],
      ['.bin', 'node_modules/.bin'],
    ] as const) {
      await symlink(join(ROOT, place), join(project, 'node_modules', name));
    }
    const { NODE_OPTIONS: _options, VITEST: _vitest, ...env } = process.env;
    const tested = spawnSync('npm', ['test'], { cwd: project, env, encoding: 'utf8' });
    expect(tested.stdout + tested.stderr).toContain('greets the caller by name');
    expect(tested.status).toBe(0);
    expect(await runSvc(['worker', 'init', 'workers/billing'], { cwd: folder.path })).toMatchObject({ code: 7 });
    await folder.remove();
  });
});

describe('svc worker list', () => {
  test('[PD-65] shows workers of the configuration that are not connected', async () => {
    const config = `${ANY_PORT}  - {name: orders, path: ./orders}\n  - {name: lost, path: ./lost}\n`;
    await using engine = await ProjectEngine.start(config, { orders: pidWorker('orders') });
    await waitFor('orders is there', () => pidOf(engine).catch(() => undefined), PATIENCE_MS);
    const listed = async (): Promise<{ name: string; status: string }[]> =>
      JSON.parse((await engine.svc('worker', 'list', '--json')).stdout);
    expect((await listed()).filter(({ name }) => name === 'orders')).toHaveLength(1);
    await waitFor(
      'the other waits for its manifest',
      async () => {
        const lost = (await listed()).find(({ name }) => name === 'lost');
        return /^waiting to restart \(.*svc\.worker\.yaml/.test(lost?.status ?? '');
      },
      PATIENCE_MS,
    );
  });
});
