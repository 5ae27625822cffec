// The process as a command sees it: streams, environment, folder, clock. Commands never use `process`, so that a test
// can pass another terminal.

import { endProcess } from '../../effects/process-end.ts';
import { EXIT } from '../kernel/failures.ts';
import { type StartedAs, startedAs } from './shell.ts';

const COLUMNS_UNKNOWN = 80;

export interface TerminalStream {
  readonly isTerminal: boolean;
  /** Width in characters; undefined when it is not a terminal. */
  readonly columns: number | undefined;
  /** Height in lines; undefined when it is not a terminal, or the height is unknown. */
  readonly rows: number | undefined;
  write(text: string): void;
}

export type StopSignal = 'SIGINT' | 'SIGTERM';

export interface Terminal {
  readonly out: TerminalStream;
  readonly err: TerminalStream;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  readonly startedAs: StartedAs;
  /** All of stdin, up to the limit; undefined when there is more. */
  readInput(bytesMax: number): Promise<string | undefined>;
  /** Whether a user can answer questions. */
  readonly mayAsk: boolean;
  /** Asks on stderr and returns the line that the user types. */
  ask(question: string): Promise<string>;
  /** Unix milliseconds. */
  now(): number;
  /** Milliseconds of a monotonic clock, for measuring. */
  elapsedMs(): number;
  /** With a listener, these signals no longer end the process. */
  onSignal(listener: (signal: StopSignal) => void): void;
  /**
   * SIGHUP: a request to read the configuration again. On a terminal the signal means that the terminal was closed, and
   * it ends the process as usual.
   */
  onHangup(listener: () => void): void;
  /** Ends the process, as soon as none of its threads is loading. */
  exit(code: number): void;
}

export function processTerminal(): Terminal {
  process.stdout.on('error', onOutputError);
  process.stderr.on('error', onLogError);
  return {
    out: wrapStream(process.stdout),
    err: wrapStream(process.stderr),
    env: process.env,
    cwd: process.cwd(),
    startedAs: startedAs(process.argv[1], process.env),
    readInput,
    mayAsk: process.stdin.isTTY === true && process.stderr.isTTY === true,
    ask,
    now: () => Date.now(),
    elapsedMs: () => performance.now(),
    onSignal: (listener) => {
      process.on('SIGINT', () => listener('SIGINT'));
      process.on('SIGTERM', () => listener('SIGTERM'));
    },
    onHangup: (listener) => {
      if (process.stderr.isTTY !== true) process.on('SIGHUP', listener);
    },
    exit: endProcess,
  };
}

/** Resolves when all output so far has been written. */
export async function flushProcessStreams(): Promise<void> {
  await Promise.all([process.stdout, process.stderr].map((stream) => new Promise((done) => stream.write('', done))));
}

function wrapStream(stream: NodeJS.WriteStream): TerminalStream {
  return {
    isTerminal: stream.isTTY === true,
    // A terminal of unknown width reports 0. The size is read each time, because a window can be resized.
    get columns() {
      return stream.isTTY === true ? stream.columns || COLUMNS_UNKNOWN : undefined;
    },
    get rows() {
      return stream.isTTY === true ? stream.rows || undefined : undefined;
    },
    write: (text) => {
      stream.write(text);
    },
  };
}

/** A closed pipe (`| head`) is not a failure; a full disk is one. */
function onOutputError(error: NodeJS.ErrnoException): void {
  if (error.code === 'EPIPE') process.exit(EXIT.done);
  process.stderr.write(`error: Cannot write to standard output: ${error.message}\n`);
  process.exit(EXIT.failed);
}

/** An engine must not end because its log has no reader any more. */
function onLogError(): void {}

async function ask(question: string): Promise<string> {
  // Few commands ask.
  const { createInterface } = await import('node:readline');
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  try {
    return await new Promise((resolve) => {
      lines.question(question, resolve);
      // Ctrl-D.
      lines.once('close', () => resolve(''));
    });
  } finally {
    lines.close();
  }
}

async function readInput(bytesMax: number): Promise<string | undefined> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of process.stdin) {
    const piece = Buffer.isBuffer(chunk) ? chunk : Buffer.from(String(chunk));
    bytes += piece.length;
    if (bytes > bytesMax) return undefined;
    chunks.push(piece);
  }
  return Buffer.concat(chunks).toString('utf8');
}

/** Reports every key at once, without Enter, until the returned function is called; Ctrl-C comes as `\u0003`. */
export function readKeys(report: (key: string) => void): () => void {
  const { stdin } = process;
  const listener = (data: Buffer | string): void => {
    for (const key of data.toString()) report(key);
  };
  stdin.setRawMode(true);
  stdin.resume();
  stdin.on('data', listener);
  return () => {
    stdin.off('data', listener);
    stdin.setRawMode(false);
    stdin.pause();
  };
}
