// The payload as it is typed into an editor (CLI-21): JSON, below lines that say what the function expects.

import { spawn } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { EXIT } from './exit-codes.ts';
import { CliFailure, usageFailure } from './failures.ts';
import { refuseNumberLoss } from './number-loss.ts';
import { quoteForShell } from './shell-quote.ts';
import type { Terminal } from './terminal.ts';

const COMMENT = '//';
const EDITOR_DEFAULT = process.platform === 'win32' ? 'notepad' : 'vi';

/** `help`: lines above the JSON. What is left of the file is the payload; nothing left calls nothing. */
export async function editPayload(begin: unknown, help: readonly string[], terminal: Terminal): Promise<unknown> {
  // Payloads may hold what is nobody else's business.
  const folder = await mkdtemp(join(tmpdir(), 'svc-payload-'));
  const file = join(folder, 'payload.json');
  const comments = [...help, 'Empty the file to call nothing.'].map((line) => `${COMMENT} ${line}`.trimEnd());
  await writeFile(file, `${[...comments, JSON.stringify(begin, null, 2)].join('\n')}\n`);
  await runEditor(file, terminal);
  const text = (await readFile(file, 'utf8'))
    .split('\n')
    .filter((line) => !line.trimStart().startsWith(COMMENT))
    .join('\n');
  const payload = text.trim() === '' ? undefined : parse(text, file);
  await rm(folder, { recursive: true, force: true });
  if (payload !== undefined) return payload.value;
  throw new CliFailure({
    code: 'NOT_CONFIRMED',
    message: 'The file was empty: nothing was called.',
    exitCode: EXIT.failed,
  });
}

/** What was typed stays where it is when it cannot be used. */
function parse(text: string, file: string): { readonly value: unknown } {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    const again = `Correct it, and give it with: --payload @${quoteForShell(file)}. Lines with ${COMMENT} have to go.`;
    throw usageFailure(`What you wrote in ${file} is not valid JSON: ${reason}.`, again);
  }
  refuseNumberLoss(text, `What you wrote in ${file}`);
  return { value };
}

/** By the shell: the variables hold commands such as `code --wait`. */
async function runEditor(file: string, { env }: Terminal): Promise<void> {
  const editor = env.VISUAL || env.EDITOR || EDITOR_DEFAULT;
  const place = process.platform === 'win32' ? `"${file}"` : quoteForShell(file);
  const code = await new Promise<number | null>((done) => {
    const child = spawn(`${editor} ${place}`, { shell: true, stdio: 'inherit' });
    child.once('error', () => done(null));
    child.once('close', done);
  });
  if (code === 0) return;
  throw usageFailure(
    `The editor '${editor}' ended with ${code ?? 'a signal'}: nothing was called.`,
    'VISUAL or EDITOR name another one; or give the payload with --payload.',
  );
}
