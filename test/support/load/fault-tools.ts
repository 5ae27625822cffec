// Tools of the fault catalogue (docs/spec/faults.md). A fault that the machine cannot make is skipped with a line that
// names it (PD-64).

import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SeededRandom } from '../random/seeded-random.ts';
import { waitFor } from '../wait-for.ts';

/** How often a fault is repeated: a few times in CI, `SVC_FAULT_ROUNDS=100 npm run faults` in the long form. */
export const FAULT_ROUNDS = Number(process.env.SVC_FAULT_ROUNDS ?? 3);

/** Rounds of the long form, in proportion to the number of the catalogue. */
export function rounds(short: number): number {
  return process.env.SVC_FAULT_ROUNDS === undefined ? short : FAULT_ROUNDS;
}

/** Random numbers of one fault test. Its seed is printed before anything can hang; `SVC_TEST_SEED` replays it. */
export function faultRandom(fault: string): SeededRandom {
  const seed = Number(process.env.SVC_TEST_SEED ?? Date.now());
  process.stdout.write(`fault ${fault}: SVC_TEST_SEED=${seed}\n`);
  return new SeededRandom(seed);
}

/** Whether a test has to be left out; says so, and why. */
export function isSkipped(fault: string, refusal: string | undefined): boolean {
  if (refusal !== undefined) process.stdout.write(`skipped: ${fault} (${refusal})\n`);
  return refusal !== undefined;
}

/** Why no file system can be mounted here. */
export function mountingRefusal(): string | undefined {
  const disk = SmallDisk.mount(1);
  disk?.[Symbol.dispose]();
  return disk === undefined ? 'this machine refuses mount' : undefined;
}

/** Why system calls of another process cannot be made to fail here. */
export function tracingRefusal(): string | undefined {
  try {
    execFileSync('strace', ['-f', '-e', 'trace=none', 'true'], { stdio: 'ignore' });
    return undefined;
  } catch {
    return 'strace is missing or this machine refuses ptrace';
  }
}

/** Makes system calls of a running process late or fail, until it is ended. */
export class Tracer implements AsyncDisposable {
  readonly #child: ChildProcess;

  private constructor(child: ChildProcess) {
    this.#child = child;
  }

  /** `injection`: of strace's -e, such as `fdatasync:error=EIO:when=7`. */
  static async attach(pid: number, injection: string): Promise<Tracer> {
    const [call = ''] = injection.split(':');
    const child = spawn('strace', ['-f', '-p', String(pid), '-e', `trace=${call}`, '-e', `inject=${injection}`], {
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    let said = '';
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      said += text;
    });
    await waitFor('strace holds the process', () => /attached/.test(said), 10_000);
    return new Tracer(child);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#child.exitCode !== null) return;
    const ended = new Promise((resolve) => this.#child.once('exit', resolve));
    this.#child.kill('SIGINT');
    await ended;
  }
}

/** A file system of its own, in memory. */
export class SmallDisk implements Disposable {
  readonly folder: string;

  private constructor(folder: string) {
    this.folder = folder;
  }

  /** `undefined` where mounting is refused. */
  static mount(mebibytes: number): SmallDisk | undefined {
    const folder = mkdtempSync(join(tmpdir(), 'svc-disk-'));
    try {
      execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${mebibytes}m`, 'tmpfs', folder], { stdio: 'ignore' });
      return new SmallDisk(folder);
    } catch {
      rmSync(folder, { recursive: true });
      return undefined;
    }
  }

  [Symbol.dispose](): void {
    execFileSync('umount', ['-l', this.folder]);
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/** A configuration with one worker port, and state in that folder. */
export function stateYaml(folder: string): string {
  return `drain_timeout_ms: 100
workers:
  - name: svc-worker-manager
    config: {port: 0}
  - name: svc-state
    config: {adapter: {name: kv, config: {file_path: ${folder}}}}
`;
}
