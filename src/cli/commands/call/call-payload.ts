// The payload of a call, from JSON, a file or stdin, with key=value pairs set over it (CLI-20).

import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { usageFailure } from '../../kernel/failures.ts';
import { refuseNumberLoss } from '../../text/number-loss.ts';
import type { Terminal } from '../../text/terminal.ts';
import { applyPairs } from './payload-pairs.ts';

/** Larger than any message that the engine accepts; protects only the memory of this process. */
const PAYLOAD_BYTES_MAX = 64 * 1024 * 1024;

/** Without payload and pairs, an empty object. */
export async function readPayload(
  source: string | undefined,
  pairs: readonly string[],
  terminal: Terminal,
): Promise<unknown> {
  const payload = source === undefined ? {} : await readJson(source, PAYLOAD, terminal);
  return applyPairs(payload, pairs);
}

/** How error messages name the input. */
export interface InputNames {
  /** `payload`, `value`. */
  readonly what: string;
  /** The place named in errors when the text was given directly: `--payload`. */
  readonly place: string;
  readonly hint: string;
}

const PAYLOAD: InputNames = {
  what: 'payload',
  place: '--payload',
  hint: `In a shell, put it into single quotes: --payload '{"sku":"a1"}', or write pairs: sku=a1`,
};

/** JSON given directly, from a file (`@file`), or from stdin (`-`). */
export async function readJson(source: string, names: InputNames, terminal: Terminal): Promise<unknown> {
  const { text, place } = await readText(source, names, terminal);
  const value = parse(text, place, names);
  refuseNumberLoss(text, `The ${names.what} from ${place}`);
  return value;
}

function parse(text: string, place: string, { what, hint }: InputNames): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw usageFailure(`The ${what} from ${place} is not valid JSON: ${reason}.`, hint);
  }
}

/** Text given directly, from a file (`@file`), or from stdin (`-`). */
export async function readText(
  source: string,
  { what, place }: InputNames,
  terminal: Terminal,
): Promise<{ readonly text: string; readonly place: string }> {
  if (source === '-') return { text: await readStdin(what, terminal), place: 'stdin' };
  if (!source.startsWith('@')) return { text: source, place };
  const path = resolve(terminal.cwd, source.slice(1));
  try {
    return { text: await readFile(path, 'utf8'), place: path };
  } catch (error) {
    if (!(error instanceof Error && 'code' in error)) throw error;
    throw usageFailure(`Cannot read the ${what} from ${path} (${error.code}).`);
  }
}

async function readStdin(what: string, terminal: Terminal): Promise<string> {
  const text = await terminal.readInput(PAYLOAD_BYTES_MAX);
  if (text === undefined) throw usageFailure(`The ${what} on stdin is larger than ${PAYLOAD_BYTES_MAX} bytes.`);
  return text;
}
