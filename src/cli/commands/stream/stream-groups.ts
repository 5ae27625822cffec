import { withEngine } from '../../engine/connection.ts';
import { CONNECTION_FLAGS } from '../../engine/connection-flags.ts';
import { defineCommand } from '../../kernel/command.ts';
import { EXIT } from '../../kernel/exit-codes.ts';
import { inPages } from '../../text/list-pages.ts';
import { isRecord, textsIn } from '../../text/records.ts';

export const streamGroups = defineCommand({
  name: 'stream groups',
  summary: 'List the groups of a stream.',
  operands: { usage: '<stream>', min: 1, max: 1, help: 'The stream.', kinds: ['stream'] },
  flags: { ...CONNECTION_FLAGS },
  formats: ['table', 'json', 'jsonl', 'csv'],
  examples: [
    { line: 'svc stream groups chat', shows: 'The groups that have items.' },
    { line: 'svc stream groups chat --json', shows: 'As a JSON list.' },
  ],
  exitCodes: [EXIT.notFound, EXIT.timedOut, EXIT.unreachable, EXIT.refused],
  async run(context) {
    const [stream = ''] = context.operands;
    const groups = await withEngine(context, (engine) =>
      inPages(async (page) => groupsIn(await engine.call('stream::list_groups', { stream_name: stream, ...page }))),
    );
    const records = groups.map((group) => ({ group }));
    context.output.printRows({
      columns: [{ name: 'group', cut: 'middle', text: ({ group }) => group }],
      rows: records,
      records,
    });
    if (records.length === 0) context.output.note('The stream has no items.');
    return EXIT.done;
  },
});

/** An engine in drop-in mode answers with the bare list. */
function groupsIn(answer: unknown): string[] {
  return textsIn(isRecord(answer) ? answer : { groups: answer }, 'groups');
}
