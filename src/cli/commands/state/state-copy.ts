// `svc state export` and `import`: entries as one JSON object per line.

import type { StateClient } from '../../../sdk/data/state-client.ts';
import { withEngine } from '../../engine/connection.ts';
import { defineCommand } from '../../kernel/command.ts';
import { EXIT, usageFailure } from '../../kernel/failures.ts';
import { CONNECTION_FLAGS } from '../../kernel/flags.ts';
import { refuseNumberLoss } from '../../text/number-loss.ts';
import { ProgressLine } from '../../text/progress-line.ts';
import { isRecord } from '../../text/records.ts';
import { readText } from '../call/payload.ts';

export const stateExport = defineCommand({
  name: 'state export',
  summary: 'Print entries, one JSON object per line.',
  operands: { usage: '[scope]', min: 0, max: 1, help: 'Only entries of this scope.', kinds: ['scope'] },
  details: [
    'Each line is {"scope","key","value"}, the format of svc state import. Entries written during the export may or ' +
      'may not be included. For a consistent copy use svc backup.',
    'Numbers with more than about 15 digits, which only other programs can store, are printed rounded: a warning ' +
      'quotes one of them, and the exit code is 1.',
  ],
  flags: {
    prefix: { kind: 'text', placeholder: '<text>', help: 'Only keys that begin with the text.' },
    ...CONNECTION_FLAGS,
  },
  formats: ['jsonl'],
  examples: [
    { line: 'svc state export > state.jsonl', shows: 'All entries of all scopes.' },
    { line: 'svc state export users --prefix a', shows: 'Those of one scope whose keys begin with a.' },
  ],
  exitCodes: [EXIT.failed, EXIT.timedOut, EXIT.unreachable, EXIT.refused],
  async run(context) {
    const { flags, operands, output } = context;
    const filter = flags.prefix === undefined ? {} : { prefix: flags.prefix };
    let count = 0;
    const isWhole = await withEngine(
      context,
      async (engine) => {
        const { state } = engine;
        for await (const scope of operands.length === 0 ? state.scopes() : operands) {
          for await (const { key, value } of state.list<unknown>(scope, filter)) {
            output.printLine({ scope, key, value });
            count++;
          }
        }
        return engine.lostNumber === undefined;
      },
      { printsValues: true },
    );
    output.note(`${count} entries`);
    return isWhole ? EXIT.done : EXIT.failed;
  },
});

/** Concurrent writes. */
const WRITERS = 32;

export const stateImport = defineCommand({
  name: 'state import',
  summary: 'Write entries from the output of svc state export.',
  operands: {
    usage: '<@file|->',
    min: 1,
    max: 1,
    help: 'A file with one {"scope","key","value"} per line, or stdin.',
    kinds: ['scope'],
  },
  details: [
    'The whole input is checked before the first write. Other entries do not change. Each entry is a write of its ' +
      'own; an interrupted import can be repeated.',
  ],
  flags: {
    'dry-run': { kind: 'switch', help: 'Only count the changes.' },
    ...CONNECTION_FLAGS,
  },
  formats: ['table', 'json', 'jsonl'],
  examples: [
    { line: 'svc state import @state.jsonl --dry-run', shows: 'The number of new, changed and equal entries.' },
    { line: 'svc state export users | svc state import - --url ws://staging:49134', shows: 'Copies a scope.' },
  ],
  exitCodes: [EXIT.timedOut, EXIT.unreachable, EXIT.refused],
  async run(context) {
    const { flags, operands, output, terminal } = context;
    const [source = ''] = operands;
    const names = { what: 'list of entries', origin: 'the command line', hint: 'Give a file as @file.' };
    const { text, origin } = await readText(source, names, terminal);
    const entries = readEntries(text, origin);
    const counts = { new: 0, changed: 0, same: 0 };
    const isDryRun = flags['dry-run'];
    await withEngine(context, async ({ state }) => {
      const progress = new ProgressLine({ total: entries.length, word: isDryRun ? 'compared' : 'written' }, context);
      await forEachAtOnce(entries, async (entry) => {
        counts[await (isDryRun ? compare(state, entry) : write(state, entry))]++;
        progress.update(counts.new + counts.changed + counts.same);
      }).finally(() => progress.end());
    });
    const summary = `${counts.new} new, ${counts.changed} changed, ${counts.same} the same`;
    if (output.jsonAsked) output.printJson({ ...counts, dry_run: flags['dry-run'] });
    else output.note(flags['dry-run'] ? `Would write ${entries.length} entries: ${summary}` : `Wrote ${summary}`);
    return EXIT.done;
  },
});

interface ImportedEntry {
  readonly scope: string;
  readonly key: string;
  readonly value: unknown;
}

type Kind = 'new' | 'changed' | 'same';

function readEntries(text: string, origin: string): ImportedEntry[] {
  const lines = text.split('\n').map((line, index) => ({ line: line.trim(), number: index + 1 }));
  return lines
    .filter(({ line }) => line !== '')
    .map(({ line, number }) => readEntry(line, `${origin}, line ${number}`));
}

function readEntry(line: string, origin: string): ImportedEntry {
  let entry: unknown;
  try {
    entry = JSON.parse(line);
  } catch (error) {
    throw usageFailure(`${origin} is not valid JSON: ${error instanceof Error ? error.message : String(error)}.`);
  }
  refuseNumberLoss(line, origin);
  if (!isRecord(entry)) throw usageFailure(`${origin} must be an object with scope, key and value.`);
  const { scope, key, value } = entry;
  if (typeof scope !== 'string' || scope === '') throw usageFailure(`${origin} lacks a scope, which must be text.`);
  if (typeof key !== 'string' || key === '') throw usageFailure(`${origin} lacks a key, which must be text.`);
  if (value === undefined) throw usageFailure(`${origin} lacks a value.`);
  return { scope, key, value };
}

async function compare(state: StateClient, { scope, key, value }: ImportedEntry): Promise<Kind> {
  return kindOf(await state.get(scope, key), value);
}

async function write(state: StateClient, { scope, key, value }: ImportedEntry): Promise<Kind> {
  const { old_value: before } = await state.set(scope, key, value);
  return kindOf(before, value);
}

/** A stored null counts as missing: the engine answers null for both. */
function kindOf(before: unknown, after: unknown): Kind {
  if (JSON.stringify(before) === JSON.stringify(after)) return 'same';
  return before === null ? 'new' : 'changed';
}

async function forEachAtOnce<T>(items: readonly T[], task: (item: T) => Promise<void>): Promise<void> {
  const rest = items.values();
  await Promise.all(
    Array.from({ length: WRITERS }, async () => {
      for (const item of rest) await task(item);
    }),
  );
}
