// The process as a command sees it: streams, environment, folder, clock. Commands never touch `process`, so
// that a test can hand in another terminal.

import { createInterface } from 'node:readline';
import { EXIT } from './exit-codes.ts';
import { type StartedAs, startedAs } from './started-as.ts';

const COLUMNS_UNKNOWN = 80;

export interface TerminalStream {
  readonly isTerminal: boolean;
  /** Width in characters; undefined when it is not a terminal. */
  readonly columns: number | undefined;
  /** Height in lines; undefined when it is not a terminal, or does not say. */
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
  /** Everything on stdin, up to the limit; undefined when there is more. */
  readInput(bytesMax: number): Promise<string | undefined>;
  /** Whether somebody sits there who can answer. */
  readonly mayAsk: boolean;
  /** The line that is typed in answer to a question on stderr. */
  ask(question: string): Promise<string>;
  /** Unix milliseconds. */
  now(): number;
  /** Milliseconds of a clock that never jumps, for measuring. */
  elapsedMs(): number;
  /** Once somebody listens, the process no longer ends by itself on these signals. */
  onSignal(listener: (signal: StopSignal) => void): void;
  /**
   * Asked to read the configuration again (SIGHUP). Nobody asks on a terminal: there the signal says that it was
   * closed, and ends the process as ever.
   */
  onHangup(listener: () => void): void;
  /** Ends the process at once. */
  exit(code: number): never;
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
    exit: (code) => process.exit(code),
  };
}

/** Resolves when everything written so far has left the process. */
export async function flushProcessStreams(): Promise<void> {
  await Promise.all([process.stdout, process.stderr].map((stream) => new Promise((done) => stream.write('', done))));
}

function wrapStream(stream: NodeJS.WriteStream): TerminalStream {
  return {
    isTerminal: stream.isTTY === true,
    // A terminal that does not know its width says 0.
    // Asked for each time: a window changes its size while a command runs.
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

/** A reader that has left (`| head`) waits for nothing more, and that is not a failure; a full disk is one. */
function onOutputError(error: NodeJS.ErrnoException): void {
  if (error.code === 'EPIPE') process.exit(EXIT.done);
  process.stderr.write(`error: Cannot write to standard output: ${error.message}\n`);
  process.exit(EXIT.failed);
}

/** An engine must not die because nobody reads its log any more. */
function onLogError(): void {}

async function ask(question: string): Promise<string> {
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
