// A terminal that collects its output in two strings, for running commands without a process.

import type { StartedAs } from '../../../../src/cli/text/shell.ts';
import type { StopSignal, Terminal } from '../../../../src/cli/text/terminal.ts';

export interface FakeTerminal extends Terminal {
  /** Everything written to stdout so far. */
  stdout(): string;
  stderr(): string;
  /** Sends a signal to the listeners. */
  signal(signal: StopSignal): void;
}

export interface FakeTerminalOptions {
  readonly env?: Record<string, string>;
  /** Width of stdout and stderr as terminals; without it, both are pipes. */
  readonly columns?: number;
  readonly input?: string;
  readonly startedAs?: StartedAs;
}

export class ProcessExit extends Error {
  readonly exitCode: number;

  constructor(exitCode: number) {
    super(`exit ${exitCode}`);
    this.exitCode = exitCode;
  }
}

export function createFakeTerminal(options: FakeTerminalOptions = {}): FakeTerminal {
  const { env = {}, columns, input = '', startedAs = 'svc' } = options;
  const written = { out: '', err: '' };
  const listeners: ((signal: StopSignal) => void)[] = [];
  const stream = (name: 'out' | 'err') => ({
    isTerminal: columns !== undefined,
    columns,
    rows: columns === undefined ? undefined : 24,
    write: (text: string) => {
      written[name] += text;
    },
  });
  return {
    out: stream('out'),
    err: stream('err'),
    env,
    cwd: '/project',
    startedAs,
    readInput: async (bytesMax) => (input.length > bytesMax ? undefined : input),
    now: () => Date.UTC(2026, 0, 2, 3, 4, 5),
    elapsedMs: () => 0,
    onHangup: () => {},
    mayAsk: false,
    ask: async () => '',
    onSignal: (listener) => {
      listeners.push(listener);
    },
    exit: (code) => {
      throw new ProcessExit(code);
    },
    stdout: () => written.out,
    stderr: () => written.err,
    signal: (signal) => {
      for (const listener of listeners) listener(signal);
    },
  };
}
