import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { type Context, defineCommand } from '../command.ts';
import { type EngineConnection, withEngine } from '../connection.ts';
import { CONNECTION_FLAGS } from '../connection-flags.ts';
import { escapeUnsafe } from '../display-text.ts';
import { EXIT } from '../exit-codes.ts';
import { usageFailure } from '../failures.ts';
import type { FlagTable } from '../flags.ts';
import { follow } from '../follow.ts';
import { requestSchemaOf, responseSchemaOf } from '../function-facts.ts';
import { recordsIn, textIn } from '../records.ts';
import { registryText } from '../schema-types.ts';

const FLAGS = {
  out: { kind: 'text', placeholder: '<file>', help: 'Write this file instead of printing, such as svc.d.ts.' },
  watch: { kind: 'switch', help: 'Write it again whenever functions come, go or change.' },
  ...CONNECTION_FLAGS,
} as const satisfies FlagTable;

const LOOK_MS = 1_000;

export const typesGenerate = defineCommand({
  name: 'types generate',
  summary: 'Write TypeScript types of the functions that can be called.',
  details: [
    'From the schemas that workers registered. With the file in your project, ids are completed, payloads ' +
      'checked and results typed wherever svc-sdk is used. A function without schemas takes unknown and gives any.',
  ],
  flags: FLAGS,
  formats: ['table', 'json', 'jsonl'],
  examples: [
    { line: 'svc types generate --out svc.d.ts', shows: 'Writes the file.' },
    { line: 'svc types generate --out svc.d.ts --watch', shows: 'Keeps it right while you work.' },
  ],
  exitCodes: [EXIT.failed, EXIT.timedOut, EXIT.unreachable, EXIT.refused, EXIT.interrupted],
  async run(context) {
    const { flags, output, terminal } = context;
    if (flags.out === undefined) {
      if (flags.watch) throw usageFailure('--watch needs a file to write: --out svc.d.ts.');
      const { text, functions } = await withEngine(context, generate);
      output.printDocument({ functions, text }, text.trimEnd());
      return EXIT.done;
    }
    const file = resolve(terminal.cwd, flags.out);
    if (flags.watch) return await follow(context, LOOK_MS, (engine) => update(context, engine, file));
    await withEngine(context, (engine) => update(context, engine, file));
    return EXIT.done;
  },
});

interface Generated {
  readonly text: string;
  readonly functions: number;
}

async function generate(engine: EngineConnection): Promise<Generated> {
  const rows = recordsIn(await engine.call('engine::functions::list', {}), 'functions');
  const functions = rows.map((row) => ({
    id: textIn(row, 'function_id'),
    description: textIn(row, 'description'),
    request: requestSchemaOf(row),
    response: responseSchemaOf(row),
  }));
  return { text: escapeUnsafe(registryText(functions)), functions: functions.length };
}

/** Leaves a file alone that says the same: editors and watchers notice every write. */
async function update({ output, flags }: Context<typeof FLAGS>, engine: EngineConnection, file: string): Promise<void> {
  const { text, functions } = await generate(engine);
  const before = await readFile(file, 'utf8').catch(() => undefined);
  if (before !== text) {
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, text);
  } else if (flags.watch) {
    return;
  }
  const document = { file, functions, changed: before !== text };
  if (flags.watch && output.jsonAsked) output.printLine(document);
  else output.printDocument(document, `${flags.out}: ${functions} functions${before === text ? ', unchanged' : ''}.`);
}
