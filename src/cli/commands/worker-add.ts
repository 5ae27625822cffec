import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { relative, resolve } from 'node:path';
import { addWorkerEntry } from '../../config/edit.ts';
import { formatProblem } from '../../config/problem.ts';
import { MANIFEST_FILE, type NewEntry } from '../../core/worker-manifest.ts';
import { type Context, defineCommand } from '../command.ts';
import { CONFIG_FLAGS, problemsIn, readConfiguration } from '../configuration.ts';
import { type EngineConnection, withEngine } from '../connection.ts';
import { CONNECTION_FLAGS } from '../connection-flags.ts';
import { stripUnsafe } from '../display-text.ts';
import { formatDuration } from '../durations.ts';
import { EXIT } from '../exit-codes.ts';
import { CliFailure } from '../failures.ts';
import type { FlagTable } from '../flags.ts';
import { changedLines } from '../line-diff.ts';
import { isRecord, textIn, textsIn } from '../records.ts';
import type { Terminal } from '../terminal.ts';
import { readProjectName } from '../worker-project.ts';

const FLAGS = {
  ...CONFIG_FLAGS,
  ...CONNECTION_FLAGS,
  wait: {
    kind: 'duration',
    placeholder: '<duration>',
    fallback: '120s',
    maxMs: 3_600_000,
    help: 'How long it may take to install, start and register.',
  },
  'no-wait': { kind: 'switch', help: 'Do not wait until it is registered.' },
  'dry-run': { kind: 'switch', help: 'Show the change of the configuration and make none.' },
} as const satisfies FlagTable;

type AddContext = Context<typeof FLAGS>;

/** Beyond what the engine itself waits for. */
const ANSWER_MS = 10_000;
const LOOK_MS = 300;

export const workerAdd = defineCommand({
  name: 'worker add',
  summary: 'Add a worker, or a module, to the configuration and start it.',
  operands: {
    usage: '<path|module>',
    min: 1,
    max: 1,
    help: `A folder with a ${MANIFEST_FILE}, or the name of a module: svc-state.`,
    kinds: ['file'],
  },
  details: [
    'The running engine writes its own configuration file, keeping comments and order, installs what the worker ' +
      'depends on, starts it, and keeps it running. Without a running engine the file is changed, and the exit ' +
      'code is 5.',
  ],
  flags: FLAGS,
  formats: ['table', 'json', 'jsonl'],
  examples: [
    { line: 'svc worker add ./workers/orders', shows: 'Starts the project and prints the functions it brought.' },
    { line: 'svc worker add svc-state --dry-run', shows: 'What adding the state module would change in the file.' },
  ],
  exitCodes: [EXIT.failed, EXIT.timedOut, EXIT.unreachable, EXIT.refused, EXIT.conflict, EXIT.configuration],
  async run(context) {
    const { operands, terminal } = context;
    const source = sourceOf(operands[0] ?? '', terminal.cwd);
    try {
      return await withEngine(context, (engine) => addOn(engine, context, source));
    } catch (error) {
      if (error instanceof CliFailure && error.facts.exitCode === EXIT.unreachable)
        return await addToFile(context, source, error);
      throw error;
    }
  },
});

type Source = { readonly kind: 'local'; readonly path: string } | { readonly kind: 'builtin'; readonly name: string };

/** Like a shell: what has a slash or exists is a path. */
function sourceOf(word: string, cwd: string): Source {
  const path = resolve(cwd, word);
  const isPath = word.includes('/') || word.startsWith('.') || existsSync(resolve(path, MANIFEST_FILE));
  return isPath ? { kind: 'local', path } : { kind: 'builtin', name: word };
}

async function addOn(engine: EngineConnection, context: AddContext, source: Source) {
  const { flags, output, terminal } = context;
  const waitMs = flags['no-wait'] ? 0 : flags.wait;
  const order = { source, wait_ms: waitMs, dry_run: flags['dry-run'] };
  if (!flags['dry-run']) output.note(`Adding ${nameOf(source)} at ${engine.address} …`);
  const answer = await tellStates(engine, context, source, () =>
    engine.call('worker::add', order, { timeoutMs: waitMs + ANSWER_MS }),
  );
  if (!isRecord(answer)) throw new Error('worker::add answered with something that is no record');
  if (flags['dry-run']) {
    const file = textIn(answer, 'file');
    const before = await readFile(file, 'utf8').catch(() => '');
    const { entry } = answer;
    const after = isRecord(entry) ? addWorkerEntry(before, newEntry(entry)) : before;
    output.printDocument(answer, [`${file} would change:`, ...changedLines(before, after)].join('\n'));
    return EXIT.done;
  }
  const functions = textsIn(answer, 'functions');
  const lines = [
    source.kind === 'builtin' ? `Started the module ${source.name}.` : `Started ${textIn(answer, 'name')}.`,
    ...functions.map((id) => `  ${stripUnsafe(id)}`),
  ];
  output.printDocument(answer, lines.join('\n'));
  output.note(`It is in ${stripUnsafe(textIn(answer, 'file'))} from now on.`);
  if (output.verbose && source.kind === 'local')
    await showLines(engine, textIn(answer, 'name'), (text) => terminal.err.write(text));
  return EXIT.done;
}

/** To install may take minutes: what it is at is said meanwhile, and how long it is waited for. */
async function tellStates<T>(
  engine: EngineConnection,
  { flags, output, terminal }: AddContext,
  source: Source,
  add: () => Promise<T>,
): Promise<T> {
  if (source.kind === 'builtin' || flags['no-wait'] || flags['dry-run']) return await add();
  // What is wrong with it the engine says; it may have the folder where we have none.
  const name = await readProjectName(source.path).catch(() => undefined);
  if (name === undefined) return await add();
  const endMs = terminal.elapsedMs() + flags.wait;
  let told = '';
  const look = async (): Promise<void> => {
    const facts = await engine.call('worker::status', { name });
    const state = isRecord(facts) ? textIn(facts, 'state') : told;
    if (state === told) return;
    told = state;
    const left = formatDuration(Math.max(0, endMs - terminal.elapsedMs()));
    if (state === 'installing') output.note(`${stripUnsafe(name)} is being installed; waited for at most ${left} more`);
  };
  // Before it is in the configuration there is no such worker; what counts is the answer to `worker::add`.
  const timer = setInterval(() => void look().catch(() => {}), LOOK_MS);
  try {
    return await add();
  } finally {
    clearInterval(timer);
  }
}

function newEntry(entry: Readonly<Record<string, unknown>>): NewEntry {
  const path = textIn(entry, 'path');
  return { name: textIn(entry, 'name'), ...(path !== '' && { path }) };
}

async function showLines(engine: EngineConnection, name: string, write: (text: string) => void): Promise<void> {
  const answer = await engine.call('worker::logs', { name });
  const lines = isRecord(answer) && Array.isArray(answer.lines) ? answer.lines.filter(isRecord) : [];
  for (const line of lines) write(`  ${stripUnsafe(textIn(line, 'text'))}\n`);
}

/** The engine is not there: the file is changed, so that its next start starts the worker. */
async function addToFile(
  context: AddContext,
  source: Source,
  unreachable: CliFailure,
): Promise<typeof EXIT.unreachable> {
  const { flags, output, terminal } = context;
  const { file, config } = await readConfiguration(flags.config, terminal);
  if (file === undefined) throw unreachable;
  const path = resolve(terminal.cwd, file);
  const entry = await entryFor(source, path);
  const isThere =
    config.projectWorkers.some(({ name }) => name === entry.name) ||
    config.modules.some(({ name, path: place }) => place.length > 0 && name === entry.name);
  if (isThere) {
    const message = `${entry.name} is in ${file} already.`;
    throw new CliFailure({ code: 'CONFLICT', message, exitCode: EXIT.conflict });
  }
  const before = await readFile(path, 'utf8');
  const after = addWorkerEntry(before, entry);
  assertAcceptable(after, { file, name: entry.name }, terminal);
  if (flags['dry-run']) {
    output.printDocument({ entry, file: path }, [`${file} would change:`, ...changedLines(before, after)].join('\n'));
    return EXIT.unreachable;
  }
  await writeFile(path, after);
  output.warn(`${unreachable.message} ${entry.name} was added to ${file}; start it with: svc --config ${file}`);
  output.printDocument({ added: true, running: false, entry, file: path }, `Added ${entry.name} to ${file}.`);
  return EXIT.unreachable;
}

/** A file that the engine would refuse must not be made of one that it takes. */
function assertAcceptable(after: string, { file, name }: { file: string; name: string }, terminal: Terminal): void {
  const problems = problemsIn(after, file, terminal);
  if (problems.length === 0) return;
  throw new CliFailure({
    code: 'USAGE',
    message: `${name} cannot be added to ${file}, which stays as it is:`,
    exitCode: EXIT.usage,
    lines: problems.flatMap((problem) => formatProblem(problem).split('\n')),
  });
}

async function entryFor(source: Source, configFile: string): Promise<NewEntry> {
  if (source.kind === 'builtin') return { name: source.name };
  const name = await readProjectName(source.path);
  const below = relative(resolve(configFile, '..'), source.path);
  return { name, path: below.startsWith('..') ? source.path : `./${below}` };
}

function nameOf(source: Source): string {
  return source.kind === 'builtin' ? source.name : source.path;
}
