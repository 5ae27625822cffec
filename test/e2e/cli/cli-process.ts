// `svc` as a real process: the built program of bin/svc.js, started as a shell starts it.

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const SVC = fileURLToPath(new URL('../../../bin/svc.js', import.meta.url));

export interface Finished {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface RunOptions {
  readonly env?: Record<string, string>;
  readonly cwd?: string;
  readonly input?: string;
  /** Path of another Node; default: the one that runs the tests. */
  readonly node?: string;
}

export function spawnSvc(
  args: readonly string[],
  { env, cwd, node = process.execPath }: RunOptions = {},
): ChildProcess {
  const { SVC_URL: _url, SVC_TOKEN: _token, FORCE_COLOR: _colour, NODE_OPTIONS: _options, ...inherited } = process.env;
  return spawn(node, [SVC, ...args], { cwd, env: { ...inherited, ...env }, stdio: 'pipe' });
}

export async function runSvc(args: readonly string[], options: RunOptions = {}): Promise<Finished> {
  const child = spawnSvc(args, options);
  // The process may have ended already; its output and exit code are the result.
  child.stdin?.on('error', () => {});
  child.stdin?.end(options.input ?? '');
  return await finished(child);
}

/** All output of the process until it ends. */
export async function finished(child: ChildProcess): Promise<Finished> {
  let stdout = '';
  let stderr = '';
  child.stdout?.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
  });
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  const [code, signal] = await once(child, 'close');
  return { code, signal, stdout, stderr };
}

/** Resolves with all text so far once it matches the pattern. */
export async function waitForText(stream: NodeJS.ReadableStream | null, pattern: RegExp): Promise<string> {
  if (stream === null) throw new Error('the process has no such stream');
  let text = '';
  return await new Promise((resolve, reject) => {
    stream.on('data', (chunk: Buffer | string) => {
      text += chunk.toString();
      if (pattern.test(text)) resolve(text);
    });
    stream.once('close', () => reject(new Error(`the process ended without ${pattern}; it said: ${text}`)));
  });
}

/** What `svc start --json` prints once the engine is ready. Rejects with its messages if it ends before. */
export async function readStartDocument<Document>(child: ChildProcess): Promise<Document> {
  let stdout = '';
  let stderr = '';
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  return await new Promise((resolve, reject) => {
    child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      stdout += text;
      if (stdout.includes('\n')) resolve(JSON.parse(stdout));
    });
    child.once('close', (code, signal) => {
      reject(new Error(`svc start ended with ${code ?? signal} before it was ready: ${stderr}`));
    });
  });
}

/** Resolves once the output or the error output of the process matches the pattern; rejects with both if it ends. */
export async function waitForOutput(child: ChildProcess, pattern: RegExp): Promise<void> {
  let text = '';
  await new Promise<void>((resolve, reject) => {
    for (const stream of [child.stdout, child.stderr]) {
      stream?.on('data', (chunk: Buffer | string) => {
        text += chunk.toString();
        if (pattern.test(text)) resolve();
      });
    }
    child.once('close', (code) => reject(new Error(`the process ended with ${code} without ${pattern}: ${text}`)));
  });
}

/** A new folder for each call, removed by the returned function. */
export async function makeFolder(
  files: Record<string, string> = {},
): Promise<{ path: string; remove(): Promise<void> }> {
  const path = await mkdtemp(join(tmpdir(), 'svc-cli-'));
  for (const [name, text] of Object.entries(files)) await writeFile(join(path, name), text);
  return { path, remove: () => rm(path, { recursive: true, force: true }) };
}

export const ANY_PORT = 'workers:\n  - name: svc-worker-manager\n    config:\n      port: 0\n';

export interface EngineProcess {
  readonly url: string;
  readonly child: ChildProcess;
  /** What `start --json` printed. */
  readonly startDocument: { readonly version: string; readonly listeners: readonly { readonly address: string }[] };
  stop(): Promise<void>;
}

/** A real engine on a free port, ready for connections. */
export async function startEngineProcess(config = ANY_PORT): Promise<EngineProcess> {
  const folder = await makeFolder({ 'svc-config.yaml': config });
  const child = spawnSvc(['start', '--json', '--threads', '1'], { cwd: folder.path });
  const startDocument = await readStartDocument<EngineProcess['startDocument']>(child);
  return {
    url: startDocument.listeners[0]?.address ?? '',
    child,
    startDocument,
    async stop() {
      if (child.exitCode === null && child.signalCode === null) {
        child.kill('SIGTERM');
        await once(child, 'exit');
      }
      await folder.remove();
    },
  };
}
