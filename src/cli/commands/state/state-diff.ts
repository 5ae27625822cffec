import { type EngineConnection, withEngine } from '../../engine/connection.ts';
import { CONNECTION_FLAGS } from '../../engine/connection-flags.ts';
import { defineCommand } from '../../kernel/command.ts';
import { EXIT } from '../../kernel/exit-codes.ts';
import { diffValues } from '../../text/line-diff.ts';
import { formatDifference } from './state-change.ts';
import { absentKey, findEntry } from './state-entries.ts';

export const stateDiff = defineCommand({
  name: 'state diff',
  summary: 'Compare the values of two entries.',
  operands: { usage: '<scope> <keyA> <keyB>', min: 3, max: 3, help: 'Two keys of one scope.', kinds: ['scope', 'key'] },
  details: ['The exit code is 1 when they differ, as with diff. With --json, both values are printed.'],
  flags: { ...CONNECTION_FLAGS },
  formats: ['table', 'json', 'jsonl'],
  examples: [
    { line: 'svc state diff users ann bob', shows: 'Lines of ann with -, of bob with +.' },
    { line: 'svc state diff settings live draft && echo same', shows: 'Prints same when nothing differs.' },
  ],
  exitCodes: [EXIT.failed, EXIT.notFound, EXIT.timedOut, EXIT.unreachable, EXIT.refused],
  async run(context) {
    const { operands, output } = context;
    const [scope = '', ...keys] = operands;
    const [one, other] = await withEngine(context, (engine) =>
      Promise.all(keys.map((key) => readValue(engine, scope, key))),
    );
    const lines = diffValues(one, other);
    const isSame = lines.every(({ kind }) => kind === 'same');
    if (output.jsonAsked) output.printJson({ same: isSame, values: [one, other] });
    else if (!isSame) output.printDocument(undefined, formatDifference(output, lines));
    return isSame ? EXIT.done : EXIT.failed;
  },
});

async function readValue(engine: EngineConnection, scope: string, key: string): Promise<unknown> {
  const entry = await findEntry(engine, scope, key);
  if (entry === undefined) throw await absentKey(engine, scope, key);
  return entry.value;
}
