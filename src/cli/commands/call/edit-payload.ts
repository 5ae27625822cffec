// A payload written in an editor (CLI-21): JSON, below comment lines that say what the function expects. The editor
// starts with a skeleton made from the schema: its required fields and its fields with a default. The skeleton is a
// help for the user; nothing is validated.

import { spawn } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CliFailure, EXIT, usageFailure } from '../../kernel/failures.ts';
import { refuseNumberLoss } from '../../text/number-loss.ts';
import { isRecord, type JsonRecord, textsIn } from '../../text/records.ts';
import { quoteForShell } from '../../text/shell.ts';
import type { Terminal } from '../../text/terminal.ts';

const COMMENT = '//';
const EDITOR_DEFAULT = process.platform === 'win32' ? 'notepad' : 'vi';

/** `help`: comment lines above the JSON. The rest of the file is the payload; an empty file cancels the call. */
export async function editPayload(initial: unknown, help: readonly string[], terminal: Terminal): Promise<unknown> {
  // Payloads may hold private data: only this user may read the file.
  const folder = await mkdtemp(join(tmpdir(), 'svc-payload-'));
  const file = join(folder, 'payload.json');
  const comments = [...help, 'Empty the file to cancel the call.'].map((line) => `${COMMENT} ${line}`.trimEnd());
  await writeFile(file, `${[...comments, JSON.stringify(initial, null, 2)].join('\n')}\n`);
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

/** A file with invalid content is kept, so that the text is not lost. */
function parse(text: string, file: string): { readonly value: unknown } {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    const again = `Correct the file, remove its ${COMMENT} lines, and pass it with: --payload @${quoteForShell(file)}`;
    throw usageFailure(`The text in ${file} is not valid JSON: ${reason}.`, again);
  }
  refuseNumberLoss(text, `The text in ${file}`);
  return { value };
}

/** Run by the shell, because the variables hold commands such as `code --wait`. */
async function runEditor(file: string, { env }: Terminal): Promise<void> {
  const editor = env.VISUAL || env.EDITOR || EDITOR_DEFAULT;
  const path = process.platform === 'win32' ? `"${file}"` : quoteForShell(file);
  const code = await new Promise<number | null>((done) => {
    const child = spawn(`${editor} ${path}`, { shell: true, stdio: 'inherit' });
    child.once('error', () => done(null));
    child.once('close', done);
  });
  if (code === 0) return;
  throw usageFailure(
    `The editor '${editor}' ended with ${code ?? 'a signal'}: nothing was called.`,
    'Set VISUAL or EDITOR to another editor, or pass the payload with --payload.',
  );
}

/** Schemas may contain themselves. */
const NESTING_MAX = 5;

/** An object at least: most payloads are one. */
export function payloadSkeleton(schema: unknown): unknown {
  return isRecord(schema) ? (skeletonOf(schema, 0) ?? {}) : {};
}

/** The given values, set over those of the skeleton. */
export function fillSkeleton(skeleton: unknown, given: unknown): unknown {
  return isRecord(skeleton) && isRecord(given) ? { ...skeleton, ...given } : given;
}

function skeletonOf(schema: JsonRecord, depth: number): unknown {
  const examples = Array.isArray(schema.examples) ? schema.examples : [];
  const choices = Array.isArray(schema.enum) ? schema.enum : [];
  for (const known of [schema.default, schema.const, examples[0], choices[0]]) if (known !== undefined) return known;
  const [type] = Array.isArray(schema.type) ? textsIn(schema, 'type') : [schema.type];
  switch (type) {
    case 'string':
      return '';
    case 'number':
    case 'integer':
      return typeof schema.minimum === 'number' ? schema.minimum : 0;
    case 'boolean':
      return false;
    case 'array':
      return [];
    case 'null':
      return null;
    default:
      return isRecord(schema.properties) || type === 'object' ? objectOf(schema, depth) : undefined;
  }
}

function objectOf(schema: JsonRecord, depth: number): JsonRecord {
  if (!isRecord(schema.properties) || depth >= NESTING_MAX) return {};
  const required = textsIn(schema, 'required');
  const entries = Object.entries(schema.properties).flatMap(([key, property]) => {
    if (!isRecord(property) || !(required.includes(key) || property.default !== undefined)) return [];
    return [[key, skeletonOf(property, depth + 1) ?? null]];
  });
  return Object.fromEntries(entries);
}
