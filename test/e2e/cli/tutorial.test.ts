// docs/tutorial.md as a reader follows it: a project from the template, every block in order, on free ports.
//
// The word after the three backticks gives the kind of block: `sh` must succeed, `sh fails` must fail; `sh <name>:
// <text>` starts and keeps running once it printed the text, replacing what ran under that name; `text` must occur in
// the last output, line by line; `<language> <file>` is a file; `sh by hand` is done by the test in its own way.

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { InstalledPackages } from '../../support/engine/installed-packages.ts';
import { freePort } from '../../support/free-port.ts';
import { finished, waitForOutput } from './cli-process.ts';

const PAGE = readFileSync(new URL('../../../docs/tutorial.md', import.meta.url), 'utf8');

interface Block {
  readonly about: string;
  readonly text: string;
}

const blocks: Block[] = [...PAGE.matchAll(/^```(.+)\n([\s\S]*?)^```$/gm)].map(([, about = '', text = '']) => ({
  about,
  text,
}));

interface Ports {
  readonly engine: number;
  readonly http: number;
  readonly console: number;
}

class Reader implements AsyncDisposable {
  readonly #installed = new InstalledPackages();
  readonly #running = new Map<string, ChildProcess>();
  readonly #ports: Ports;
  #said = '';

  constructor(ports: Ports) {
    this.#ports = ports;
  }

  async createProject(): Promise<void> {
    const created = await finished(this.#spawn('npx svc create . --template quickstart --force --no-git'));
    expect(created.code, created.stderr).toBe(0);
  }

  async follow({ about, text }: Block): Promise<void> {
    const [language = '', ...rest] = about.split(' ');
    const what = rest.join(' ');
    if (about === 'sh by hand') return;
    if (language === 'text') return this.#expectSaid(text);
    if (language !== 'sh') return writeFileSync(join(this.#installed.path, what), text);
    const [name, awaited] = what.split(': ');
    if (name !== undefined && awaited !== undefined) return await this.#leaveRunning(name, text, new RegExp(awaited));
    const { code, stdout, stderr } = await finished(this.#spawn(text));
    this.#said = `${stdout}\n${stderr}`;
    if (what === 'fails') expect(code, this.#said).not.toBe(0);
    else expect(code, `${text}${this.#said}`).toBe(0);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    // The engine stops last, after its workers.
    for (const name of [...this.#running.keys()].reverse()) await this.#end(name);
    this.#installed[Symbol.dispose]();
  }

  async #leaveRunning(name: string, command: string, awaited: RegExp): Promise<void> {
    await this.#end(name);
    const child = this.#spawn(`exec ${command}`);
    this.#running.set(name, child);
    await waitForOutput(child, awaited);
  }

  async #end(name: string): Promise<void> {
    const child = this.#running.get(name);
    this.#running.delete(name);
    if (child?.pid === undefined || child.exitCode !== null) return;
    process.kill(-child.pid, 'SIGINT');
    await once(child, 'exit');
  }

  #expectSaid(text: string): void {
    for (const line of text.trim().split('\n')) expect(this.#said).toContain(line.trim());
  }

  #spawn(command: string): ChildProcess {
    const { engine, http, console } = this.#ports;
    const env = {
      ...process.env,
      SVC_PORT: String(engine),
      SVC_HTTP_PORT: String(http),
      SVC_URL: `ws://127.0.0.1:${engine}`,
      SVC_HTTP_URL: `http://127.0.0.1:${http}`,
    };
    // A process group of its own, because Ctrl-C reaches every process of a terminal.
    return spawn('sh', ['-c', command.replace('svc console', `svc console --no-open --port ${console}`)], {
      cwd: this.#installed.path,
      env,
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
  }
}

let reader: Reader | undefined;
afterAll(() => reader?.[Symbol.asyncDispose](), 60_000);

test('every block of the tutorial has the result that the page shows', { timeout: 240_000 }, async () => {
  expect(blocks.length).toBeGreaterThan(15);
  reader = new Reader({ engine: await freePort(), http: await freePort(), console: await freePort() });
  await reader.createProject();
  for (const block of blocks) await reader.follow(block);
});
