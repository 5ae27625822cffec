// Candidates for the word at the cursor of an incomplete command line: commands, flags, their values, and names from
// the running engine. Names are requested with a limit of 150 ms and cached for ten seconds. Without an engine there
// are none, and no error is shown (CLI-10).

import { mkdir, readFile, stat, writeFile } from 'node:fs/promises';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { readContexts, withContext } from '../engine/contexts.ts';
import { isRecord, recordsIn, textIn, textsIn } from '../text/records.ts';
import type { Terminal } from '../text/terminal.ts';
import type { Catalogue } from './catalogue.ts';
import type { Command, OperandKind } from './command.ts';
import { type FlagTable, GLOBAL_FLAGS } from './flags.ts';
import { TOPICS } from './help-topics.ts';

/** The names of that kind; `before` are the operands to the left of the cursor. */
export type Names = (kind: OperandKind, before: readonly string[]) => Promise<readonly string[]>;

/** `words` without `svc`; the last one is the one at the cursor, possibly empty. */
export async function complete(
  words: readonly string[],
  catalogue: Catalogue,
  names: Names,
): Promise<readonly string[]> {
  const current = words.at(-1) ?? '';
  const found = await candidates(words.slice(0, -1), current, catalogue, names);
  return [...new Set(found)].filter((word) => word.startsWith(current)).sort();
}

async function candidates(
  before: readonly string[],
  current: string,
  catalogue: Catalogue,
  names: Names,
): Promise<readonly string[]> {
  const [first] = before;
  if (first === undefined)
    return current.startsWith('-') ? ['--help', '--version', '--config'] : catalogue.firstWords();
  if (first === 'help') return [...catalogue.firstWords(), ...Object.keys(TOPICS)];
  const named = before.map((_, at) => catalogue.entryNamed(before.slice(0, at + 1).join(' ')));
  const length = named.findIndex((entry) => entry !== undefined) + 1;
  const command = await named[length - 1]?.load();
  if (command === undefined) return nextWords(before, catalogue);
  const table: FlagTable = { ...command.flags, ...GLOBAL_FLAGS };
  return await inside(command, table, before.slice(length), current, names);
}

/** The next words of the commands that begin with these words. */
function nextWords(before: readonly string[], catalogue: Catalogue): string[] {
  return catalogue.groupMembers(before.join(' ')).flatMap(({ name }) => name.split(' ')[before.length] ?? []);
}

async function inside(
  command: Command,
  table: FlagTable,
  before: readonly string[],
  current: string,
  names: Names,
): Promise<readonly string[]> {
  const last = before.at(-1) ?? '';
  const awaited = valueFlag(table, last);
  if (awaited === 'output') return command.formats;
  if (awaited !== undefined) return await valuesOf(awaited, table, names);
  if (current.startsWith('-')) return ['--help', ...Object.keys(table).map((name) => `--${name}`)];
  const operands = operandsOf(before, table);
  if (operands.length === 0 && command.operands?.choices !== undefined) return command.operands.choices;
  const kinds = command.operands?.kinds ?? [];
  const kind = kinds[Math.min(operands.length, kinds.length - 1)];
  if (kind === undefined || operands.length >= (command.operands?.max ?? 0)) return [];
  return await names(kind, operands);
}

async function valuesOf(name: string, table: FlagTable, names: Names): Promise<readonly string[]> {
  const flag = table[name];
  if (flag?.kind === 'choice') return flag.choices;
  const kind = KIND_OF_FLAG[name];
  return kind === undefined ? [] : await names(kind, []);
}

const KIND_OF_FLAG: Readonly<Record<string, OperandKind>> = {
  queue: 'queue',
  context: 'context',
  function: 'function',
};

/** The flag whose value is at the cursor. */
function valueFlag(table: FlagTable, word: string): string | undefined {
  if (!word.startsWith('-') || word.includes('=')) return undefined;
  const found = Object.entries(table).find(
    ([name, flag]) => word === `--${name}` || (flag.short !== undefined && word === `-${flag.short}`),
  );
  return found !== undefined && found[1].kind !== 'switch' ? found[0] : undefined;
}

function operandsOf(words: readonly string[], table: FlagTable): string[] {
  return words.filter((word, at) => !word.startsWith('-') && valueFlag(table, words[at - 1] ?? '') === undefined);
}

const ANSWER_MS_DEFAULT = 150;
const CACHE_MS = 10_000;
const URL_DEFAULT = 'ws://127.0.0.1:49134';

type QuestionFor = (kind: Exclude<OperandKind, 'context' | 'file'>, before: readonly string[]) => Question;

interface Question {
  readonly functionId: string;
  readonly payload: unknown;
  readonly read: (answer: unknown) => string[];
}

const QUESTIONS: QuestionFor = (kind, before) => {
  const rows = (field: string, name: string) => (answer: unknown) =>
    recordsIn(answer, field).map((row) => textIn(row, name));
  switch (kind) {
    case 'function':
      return { functionId: 'engine::functions::list', payload: {}, read: rows('functions', 'function_id') };
    case 'trigger':
      return { functionId: 'engine::registered-triggers::list', payload: {}, read: rows('registered_triggers', 'id') };
    case 'trace':
      return { functionId: 'engine::traces::list', payload: NEWEST_TRACES, read: traces };
    case 'worker':
      return { functionId: 'worker::list', payload: {}, read: rows('workers', 'name') };
    case 'queue':
      return { functionId: 'engine::queue::list_topics', payload: {}, read: bare('name') };
    case 'scope':
      return { functionId: 'state::list_groups', payload: {}, read: groups };
    case 'stream':
      return { functionId: 'stream::list_all', payload: {}, read: rows('stream', 'id') };
    case 'key':
      return { functionId: 'state::list', payload: pageOf(before), read: bare('key') };
  }
};

const NEWEST_TRACES = { sort_by: 'start_time', sort_order: 'desc', limit: 50 };

/** Each trace once, although several of its spans may be listed. */
function traces(answer: unknown): string[] {
  return ['last', ...new Set(recordsIn(answer, 'spans').map((row) => textIn(row, 'trace_id')))];
}

function groups(answer: unknown): string[] {
  return isRecord(answer) ? textsIn(answer, 'groups') : [];
}

function pageOf([scope = '']: readonly string[]) {
  return { scope, include_keys: true, limit: 200 };
}

/** Of answers that are a list themselves. */
function bare(name: string): (answer: unknown) => string[] {
  return (answer) => recordsIn({ answer }, 'answer').map((row) => textIn(row, name));
}

export async function namesFor(terminal: Terminal, kind: OperandKind, before: readonly string[]): Promise<string[]> {
  if (kind === 'file') return [];
  try {
    if (kind === 'context') return [...readContexts(terminal.env).byName.keys()];
    const env = withContext(terminal.env, terminal.env.SVC_CONTEXT || undefined);
    const question = QUESTIONS(kind, before);
    const timeoutMs = Number(env.SVC_COMPLETION_MS) || ANSWER_MS_DEFAULT;
    return await cachedNames(
      {
        url: env.SVC_URL || URL_DEFAULT,
        token: env.SVC_TOKEN || undefined,
        caFile: env.SVC_CA_FILE || undefined,
        timeoutMs,
      },
      question,
    );
  } catch {
    // The user is typing: problems are reported when the line is run.
    return [];
  }
}

interface Engine {
  readonly url: string;
  readonly token: string | undefined;
  readonly caFile: string | undefined;
  readonly timeoutMs: number;
}

async function cachedNames(engine: Engine, question: Question): Promise<string[]> {
  const folder = join(tmpdir(), `svc-completion-${userInfo().uid}`);
  const file = join(
    folder,
    Buffer.from(JSON.stringify([engine.url, question]))
      .toString('base64url')
      .slice(0, 200),
  );
  const age = await stat(file).then(
    ({ mtimeMs }) => Date.now() - mtimeMs,
    () => Number.POSITIVE_INFINITY,
  );
  if (age < CACHE_MS) return (await readFile(file, 'utf8')).split('\n').filter(Boolean);
  const names = question.read(await ask(engine, question)).filter(Boolean);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  await writeFile(file, names.join('\n'), { mode: 0o600 });
  return names;
}

async function ask({ url, token, caFile, timeoutMs }: Engine, { functionId, payload }: Question): Promise<unknown> {
  // Cached names need no connection.
  const { createWorker, nodePlatform, withTls } = await import('../../sdk/internal.ts');
  const tls = url.startsWith('wss:') ? { ca_file: caFile } : undefined;
  const options = {
    announce: false,
    reconnect: false,
    handle_signals: false,
    timeout_ms: timeoutMs,
    ...(token !== undefined && { token }),
    log: () => {},
  };
  const caller = createWorker(url, options, withTls(nodePlatform, url, { tls }));
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error('late')), timeoutMs);
  });
  try {
    return await Promise.race([caller.trigger({ function_id: functionId, payload }), late]);
  } finally {
    clearTimeout(timer);
    caller.shutdown().catch(() => {});
  }
}
