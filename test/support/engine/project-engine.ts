// An engine process with a folder for its configuration and worker projects, as users have them.

import { type ChildProcess, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { registerWorker, type SvcWorker } from '../../../src/sdk/index.ts';
import { finished, makeFolder, readStartDocument, runSvc, spawnSvc } from '../../e2e/cli/cli-process.ts';

const SDK = fileURLToPath(new URL('../../../src/sdk/dist/sdk/index.js', import.meta.url));

export class ProjectEngine implements AsyncDisposable {
  readonly folder: string;
  readonly child: ChildProcess;
  readonly url: string;
  /** Addresses in the order of the start block. */
  readonly listeners: readonly string[];
  readonly #remove: () => Promise<void>;
  #caller: SvcWorker | undefined;

  private constructor(folder: string, child: ChildProcess, listeners: readonly string[], remove: () => Promise<void>) {
    this.folder = folder;
    this.child = child;
    this.listeners = listeners;
    this.url = listeners[0] ?? '';
    this.#remove = remove;
  }

  static async start(config: string, projects: Record<string, Record<string, string>> = {}): Promise<ProjectEngine> {
    const { path, remove } = await makeFolder({ 'svc-config.yaml': config });
    for (const [name, files] of Object.entries(projects)) await writeProject(join(path, name), files);
    return await ProjectEngine.startIn(path, {}, remove);
  }

  /** In an existing folder. */
  static async startIn(path: string, env: Record<string, string>, remove = async () => {}): Promise<ProjectEngine> {
    const child = spawnSvc(['start', '--json', '--threads', '1'], { cwd: path, env });
    const { listeners }: { listeners: readonly { readonly address: string }[] } = await readStartDocument(child);
    const addresses = listeners.map(({ address }) => address);
    return new ProjectEngine(path, child, addresses, remove);
  }

  get config(): Promise<string> {
    return readFile(join(this.folder, 'svc-config.yaml'), 'utf8');
  }

  async writeConfig(text: string): Promise<void> {
    await writeFile(join(this.folder, 'svc-config.yaml'), text);
  }

  svc(...args: string[]) {
    return runSvc(args, { cwd: this.folder, env: { SVC_URL: this.url } });
  }

  async call(functionId: string, payload: unknown = {}): Promise<unknown> {
    this.#caller ??= registerWorker(this.url, { handle_signals: false, drain_timeout_ms: 0 });
    return await this.#caller.trigger({ function_id: functionId, payload });
  }

  async kill(): Promise<void> {
    this.child.kill('SIGKILL');
    if (this.child.exitCode === null && this.child.signalCode === null) await once(this.child, 'exit');
  }

  async stop() {
    this.child.kill('SIGTERM');
    return await finished(this.child);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#caller?.shutdown();
    if (this.child.exitCode === null && this.child.signalCode === null) await this.kill();
    await this.#remove();
  }
}

async function writeProject(folder: string, files: Record<string, string>): Promise<void> {
  await mkdir(folder, { recursive: true });
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text);
}

/** A project whose worker registers one function that answers with its process id. */
export function pidWorker(name: string, extra = ''): Record<string, string> {
  return {
    'svc.worker.yaml': `name: ${name}\nruntime: {kind: node, entry: worker.mjs}\n`,
    'worker.mjs': `
import { registerWorker } from ${JSON.stringify(SDK)};
const svc = registerWorker(process.env.SVC_URL);
svc.registerFunction('${name}::pid', async () => ({ pid: process.pid, name: process.env.SVC_WORKER_NAME }));
console.log('${name} is up');
${extra}
`,
  };
}

/** Processes whose command line holds the text. */
export function processesWith(text: string): string[] {
  return spawnSync('pgrep', ['-f', text], { encoding: 'utf8' }).stdout.split('\n').filter(Boolean);
}
