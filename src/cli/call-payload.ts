// The payload of a call from what was typed: JSON, a file, stdin, and pairs over it (CLI-20).

import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { usageFailure } from './failures.ts';
import { applyPairs } from './payload-pairs.ts';
import type { Terminal } from './terminal.ts';

/** More than any listener of the engine takes in one message; only guards this process. */
const PAYLOAD_BYTES_MAX = 64 * 1024 * 1024;

/** Without payload and pairs, an empty object. */
export async function readPayload(
  source: string | undefined,
  pairs: readonly string[],
  terminal: Terminal,
): Promise<unknown> {
  const payload = source === undefined ? {} : await readSource(source, terminal);
  return applyPairs(payload, pairs);
}

async function readSource(source: string, terminal: Terminal): Promise<unknown> {
  if (source === '-') return parsePayload(await readStdin(terminal), 'stdin');
  if (!source.startsWith('@')) return parsePayload(source, '--payload');
  const path = resolve(terminal.cwd, source.slice(1));
  try {
    return parsePayload(await readFile(path, 'utf8'), path);
  } catch (error) {
    if (!(error instanceof Error && 'code' in error)) throw error;
    throw usageFailure(`Cannot read the payload from ${path} (${error.code}).`);
  }
}

async function readStdin(terminal: Terminal): Promise<string> {
  const text = await terminal.readInput(PAYLOAD_BYTES_MAX);
  if (text === undefined) throw usageFailure(`The payload on stdin is larger than ${PAYLOAD_BYTES_MAX} bytes.`);
  return text;
}

function parsePayload(text: string, source: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw usageFailure(
      `The payload from ${source} is not valid JSON: ${reason}.`,
      `In a shell, put it into single quotes: --payload '{"sku":"a1"}', or write pairs: sku=a1`,
    );
  }
}
