import { readPayload } from '../call-payload.ts';
import { defineCommand } from '../command.ts';
import { withEngine } from '../connection.ts';
import { CONNECTION_FLAGS } from '../connection-flags.ts';
import { EXIT } from '../exit-codes.ts';
import { isRecord, textIn } from '../records.ts';

export const triggersFire = defineCommand({
  name: 'triggers fire',
  summary: 'Fire a trigger now.',
  operands: {
    usage: '<id> [payload]',
    min: 1,
    max: 2,
    help: 'The id as in svc triggers list; the payload as JSON, @file or -.',
    kinds: ['trigger'],
  },
  details: [
    'Its function is called once, after its condition, and is not waited for. Without a payload it gets what the ' +
      'trigger would bring by itself: a cron trigger says which moment it stands for.',
  ],
  flags: CONNECTION_FLAGS,
  formats: ['json', 'jsonl'],
  examples: [
    { line: 'svc triggers fire 7c9e6679-7425-40de-944b-e07fc1f90ae7', shows: 'Runs a nightly job now.' },
    { line: `svc triggers fire 7c9e6679-7425-40de-944b-e07fc1f90ae7 '{"day":3}'`, shows: 'The same with a payload.' },
  ],
  exitCodes: [EXIT.notFound, EXIT.timedOut, EXIT.unreachable, EXIT.refused],
  async run(context) {
    const [id, source] = context.operands;
    const given = source === undefined ? {} : { payload: await readPayload(source, [], context.terminal) };
    const answer = await withEngine(context, (engine) => engine.call('engine::triggers::fire', { id, ...given }));
    context.output.printJson(answer);
    if (isRecord(answer))
      context.output.note(`fired ${textIn(answer, 'trigger_type')}: ${textIn(answer, 'function_id')}`);
    return EXIT.done;
  },
});
