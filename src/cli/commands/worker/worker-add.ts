import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { relative, resolve } from 'node:path';
import { addWorkerEntry } from '../../../config/edit.ts';
import { formatProblem } from '../../../config/problem.ts';
import { MANIFEST_FILE, type NewEntry } from '../../../core/workers/worker-manifest.ts';
import { type EngineConnection, withEngine } from '../../engine/connection.ts';
import { type Context, defineCommand } from '../../kernel/command.ts';
import { CONFIG_FLAGS, problemsIn, readConfiguration } from '../../kernel/configuration.ts';
import { CliFailure, EXIT } from '../../kernel/failures.ts';
import { CONNECTION_FLAGS, type FlagTable } from '../../kernel/flags.ts';
import { stripUnsafe } from '../../text/display-text.ts';
import { changedLines } from '../../text/line-diff.ts';
import { isRecord, textIn, textsIn } from '../../text/records.ts';
import type { Terminal } from '../../text/terminal.ts';
import { formatDuration } from '../../text/times.ts';
import { WAIT_FLAGS, waitMsOf } from './worker-control.ts';
import { readProjectName } from './worker-project.ts';

const FLAGS = {
  ...CONFIG_FLAGS,
  ...CONNECTION_FLAGS,
  ...WAIT_FLAGS,
  'dry-run': { kind: 'switch', help: 'Only show the change of the configuration.' },
} as const satisfies FlagTable;

type AddContext = Context<typeof FLAGS>;

/** Added to the time that the engine itself waits. */
const ANSWER_MS = 10_000;
const POLL_MS = 300;

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
    'The running engine changes its configuration file, keeping comments and order, installs the dependencies of ' +
      'the worker, starts it and keeps it running. Without a running engine only the file is changed, and the ' +
      'exit code is 5.',
  ],
  flags: FLAGS,
  formats: ['table', 'json', 'jsonl'],
  examples: [
    { line: 'svc worker add ./workers/orders', shows: 'Starts the project and prints its functions.' },
    { line: 'svc worker add svc-state --dry-run', shows: 'How adding the state module would change the file.' },
  ],
  exitCodes: [EXIT.failed, EXIT.timedOut, EXIT.unreachable, EXIT.refused, EXIT.conflict, EXIT.configuration],
  async run(context) {
    const { operands, terminal } = context;
    const source = sourceOf(operands[0] ?? '', terminal.cwd);
    try {
      return await withEngine(context, (engine) => addOn(engine, context, source));
    } catch (error) {
      if (error instanceof CliFailure && error.report.exitCode === EXIT.unreachable)
        return await addToFile(context, source, error);
      throw error;
    }
  },
});

type Source = { readonly kind: 'local'; readonly path: string } | { readonly kind: 'builtin'; readonly name: string };

/** As in a shell, a word with a slash is a path; so is a folder with a manifest. */
function sourceOf(word: string, cwd: string): Source {
  const path = resolve(cwd, word);
  const isPath = word.includes('/') || word.startsWith('.') || existsSync(resolve(path, MANIFEST_FILE));
  return isPath ? { kind: 'local', path } : { kind: 'builtin', name: word };
}

async function addOn(engine: EngineConnection, context: AddContext, source: Source) {
  const { flags, output, terminal } = context;
  const waitMs = waitMsOf(flags);
  const payload = { source, wait_ms: waitMs, dry_run: flags['dry-run'] };
  if (!flags['dry-run']) output.note(`Adding ${nameOf(source)} at ${engine.address} …`);
  const answer = await reportStates(engine, context, source, () =>
    engine.call('worker::add', payload, { timeoutMs: waitMs + ANSWER_MS }),
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
  output.note(`It was added to ${stripUnsafe(textIn(answer, 'file'))}.`);
  if (output.verbose && source.kind === 'local')
    await showLines(engine, textIn(answer, 'name'), (text) => terminal.err.write(text));
  return EXIT.done;
}

/** An installation may take minutes: the state and the remaining time are printed meanwhile. */
async function reportStates<T>(
  engine: EngineConnection,
  { flags, output, terminal }: AddContext,
  source: Source,
  add: () => Promise<T>,
): Promise<T> {
  if (source.kind === 'builtin' || flags['no-wait'] || flags['dry-run']) return await add();
  // The engine reports a problem of the project; the folder may exist only on its machine.
  const name = await readProjectName(source.path).catch(() => undefined);
  if (name === undefined) return await add();
  const endMs = terminal.elapsedMs() + flags.wait;
  let reported = '';
  const poll = async (): Promise<void> => {
    const status = await engine.call('worker::status', { name });
    const state = isRecord(status) ? textIn(status, 'state') : reported;
    if (state === reported) return;
    reported = state;
    const left = formatDuration(Math.max(0, endMs - terminal.elapsedMs()));
    if (state === 'installing')
      output.note(`${stripUnsafe(name)} is being installed; waiting for at most ${left} more`);
  };
  // Fails until the worker is in the configuration. The result is the answer to `worker::add`.
  const timer = setInterval(() => void poll().catch(() => {}), POLL_MS);
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

/** Without an engine, the file is changed; the next start of the engine starts the worker. */
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
    config.modules.some(({ name, path: keys }) => keys.length > 0 && name === entry.name);
  if (isThere) {
    const message = `${entry.name} is already in ${file}.`;
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

/** A valid file must not become one that the engine would refuse. */
function assertAcceptable(after: string, { file, name }: { file: string; name: string }, terminal: Terminal): void {
  const problems = problemsIn(after, file, terminal);
  if (problems.length === 0) return;
  throw new CliFailure({
    code: 'USAGE',
    message: `${name} cannot be added to ${file}; the file is unchanged:`,
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
