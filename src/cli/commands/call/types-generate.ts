import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { type EngineConnection, withEngine } from '../../engine/connection.ts';
import { CONNECTION_FLAGS } from '../../engine/connection-flags.ts';
import { type Context, defineCommand } from '../../kernel/command.ts';
import { EXIT } from '../../kernel/exit-codes.ts';
import { usageFailure } from '../../kernel/failures.ts';
import type { FlagTable } from '../../kernel/flags.ts';
import { escapeUnsafe } from '../../text/display-text.ts';
import { follow } from '../../text/follow.ts';
import { recordsIn, textIn } from '../../text/records.ts';
import { requestSchemaOf, responseSchemaOf } from './function-facts.ts';
import { registryText } from './schema-types.ts';

const FLAGS = {
  out: { kind: 'text', placeholder: '<file>', help: 'Write to this file instead of stdout, such as svc.d.ts.' },
  watch: { kind: 'switch', help: 'Update the file when functions are added, removed or changed.' },
  ...CONNECTION_FLAGS,
} as const satisfies FlagTable;

const LOOK_MS = 1_000;

export const typesGenerate = defineCommand({
  name: 'types generate',
  summary: 'Write TypeScript types for the functions that can be called.',
  details: [
    'The types come from the schemas that workers registered. With the file in your project, svc-sdk completes ids, ' +
      'checks payloads and types results. A function without schemas takes unknown and returns any.',
  ],
  flags: FLAGS,
  formats: ['table', 'json', 'jsonl'],
  examples: [
    { line: 'svc types generate --out svc.d.ts', shows: 'Writes the file.' },
    { line: 'svc types generate --out svc.d.ts --watch', shows: 'Keeps the file up to date while you work.' },
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

/** Does not write an unchanged file: editors and watchers notice every write. */
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
