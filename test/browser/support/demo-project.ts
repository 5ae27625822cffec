// The project that `svc create --template demo` makes, running as its user runs it: the engine starts its workers, and
// the console is a process of its own.

import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { type Finished, makeFolder, runSvc, spawnSvc, waitForOutput } from '../../e2e/cli/cli-process.ts';
import { freePort } from '../../support/free-port.ts';
import { waitFor } from '../../support/wait-for.ts';

const ROOT = join(import.meta.dirname, '../../..');
const START_MS_MAX = 60_000;

export class DemoProject implements AsyncDisposable {
  /** Of the console. */
  readonly url: string;
  /** Of the engine, for workers and the command line. */
  readonly engineUrl: string;
  readonly #folder: { readonly path: string; remove(): Promise<void> };
  readonly #children: readonly ChildProcess[];

  private constructor(
    ports: { readonly engine: number; readonly console: number },
    folder: { readonly path: string; remove(): Promise<void> },
    children: readonly ChildProcess[],
  ) {
    this.url = `http://127.0.0.1:${ports.console}`;
    this.engineUrl = `ws://127.0.0.1:${ports.engine}`;
    this.#folder = folder;
    this.#children = children;
  }

  static async start(): Promise<DemoProject> {
    const folder = await makeFolder();
    const created = await runSvc(['create', 'demo', '--template', 'demo', '--no-git'], { cwd: folder.path });
    if (created.code !== 0) throw new Error(created.stderr);
    const cwd = join(folder.path, 'demo');
    await mkdir(join(cwd, 'node_modules'));
    await symlink(join(ROOT, 'src/sdk'), join(cwd, 'node_modules/svc-sdk'));
    const [engine, http, stream, page] = [await freePort(), await freePort(), await freePort(), await freePort()];
    const env = { SVC_PORT: String(engine), SVC_HTTP_PORT: String(http), STREAM_PORT: String(stream) };
    const running = spawnSvc(['start'], { cwd, env });
    const places = ['--engine-port', String(http), '--ws-port', String(stream), '--bridge-port', String(engine)];
    await waitForOutput(running, /shop is ready|A parcel is packed/);
    const console = spawnSvc(['console', '--no-open', '--port', String(page), ...places], { cwd });
    await waitForOutput(console, /http:/);
    const demo = new DemoProject({ engine, console: page }, folder, [console, running]);
    await waitFor(
      'a mail has failed for good',
      async () => (await demo.svc('queue', 'dlq', 'list', 'mail', '--json')).stdout.includes('no such customer'),
      START_MS_MAX,
    );
    return demo;
  }

  svc(...args: string[]): Promise<Finished> {
    return runSvc([...args, '--url', this.engineUrl], { cwd: this.#folder.path });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const child of this.#children) {
      const ended = once(child, 'close');
      child.kill('SIGTERM');
      await ended;
    }
    await this.#folder.remove();
  }
}
