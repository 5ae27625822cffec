// `svc stream …` but for `watch`: streams, groups and items listed, one item read or written, a custom event sent.
//
// The engine answers lists up to a size limit: in one consistent answer if they fit, else in pages.

import { isSvcError } from '../../../sdk/calls/errors.ts';
import { withEngine } from '../../engine/connection.ts';
import { LIST_EXIT_CODES, listFlags, showList } from '../../engine/listing.ts';
import { defineCommand } from '../../kernel/command.ts';
import { EXIT, usageFailure } from '../../kernel/failures.ts';
import { CONNECTION_FLAGS } from '../../kernel/flags.ts';
import { isRecord, type JsonRecord, recordsIn, textIn, textsIn } from '../../text/records.ts';
import { type InputNames, readJson } from '../call/payload.ts';

export const streamList = defineCommand({
  name: 'stream list',
  summary: 'List the streams and how many groups each has.',
  flags: { ...listFlags('streams'), ...CONNECTION_FLAGS },
  formats: ['table', 'wide', 'json', 'jsonl', 'csv'],
  examples: [
    { line: 'svc stream list', shows: 'Every stream that has items or kept events.' },
    { line: 'svc stream list --json', shows: 'With the names of their groups.' },
  ],
  exitCodes: [EXIT.notFound, ...LIST_EXIT_CODES],
  async run(context) {
    return await showList<JsonRecord>(context, { what: 'streams' }, async (engine) => ({
      columns: [
        { name: 'stream', cut: 'middle', text: (stream) => textIn(stream, 'id') },
        { name: 'groups', align: 'right', text: ({ groups }) => String(Array.isArray(groups) ? groups.length : 0) },
      ],
      rows: await inPages(async (page) =>
        recordsIn(await engine.call('stream::list_all', { include_empty: true, ...page }), 'stream'),
      ),
      none: 'No stream has items or kept events.',
    }));
  },
});

export const streamGroups = defineCommand({
  name: 'stream groups',
  summary: 'List the groups of a stream.',
  operands: { usage: '<stream>', min: 1, max: 1, help: 'The stream.', kinds: ['stream'] },
  flags: { ...listFlags('groups'), ...CONNECTION_FLAGS },
  formats: ['table', 'json', 'jsonl', 'csv'],
  examples: [
    { line: 'svc stream groups chat', shows: 'The groups that have items or kept events.' },
    { line: 'svc stream groups chat --json', shows: 'As a JSON list.' },
  ],
  exitCodes: [EXIT.notFound, ...LIST_EXIT_CODES],
  async run(context) {
    const [stream = ''] = context.operands;
    return await showList(context, { what: 'groups' }, async (engine) => {
      const groups = await inPages(async (page) =>
        groupsIn(await engine.call('stream::list_groups', { stream_name: stream, include_empty: true, ...page })),
      );
      return {
        columns: [{ name: 'group', cut: 'middle', text: ({ group }) => group }],
        rows: groups.map((group) => ({ group })),
        none: 'The stream has no items and no kept events.',
      };
    });
  },
});

/** An engine in drop-in mode answers with the bare list. */
function groupsIn(answer: unknown): string[] {
  return textsIn(isRecord(answer) ? answer : { groups: answer }, 'groups');
}

export const streamItems = defineCommand({
  name: 'stream items',
  summary: 'List the items of a group.',
  operands: { usage: '<stream>/<group>', min: 1, max: 1, help: 'The group.' },
  flags: { ...listFlags('items'), ...CONNECTION_FLAGS },
  formats: ['table', 'wide', 'json', 'jsonl', 'csv'],
  examples: [
    { line: 'svc stream items chat/room1', shows: 'Ids and data.' },
    { line: 'svc stream items chat/room1 -o jsonl', shows: 'One {id, data} per line.' },
  ],
  exitCodes: [EXIT.notFound, ...LIST_EXIT_CODES],
  async run(context) {
    const { stream, group } = groupOperand(context.operands);
    return await showList(context, { what: 'items', printsValues: true }, async (engine) => {
      const items = await inPages(async (page) => [...(await engine.stream(stream).group(group).list(page))]);
      return {
        columns: [
          { name: 'item', cut: 'middle', text: ({ id }) => id },
          { name: 'data', cut: 'end', text: ({ data }) => JSON.stringify(data) },
        ],
        rows: items.map(([id, data]) => ({ id, data })),
        none: 'The group is empty.',
      };
    });
  },
});

export const streamGet = defineCommand({
  name: 'stream get',
  summary: 'Print the data of an item.',
  operands: { usage: '<stream>/<group> <item>', min: 2, max: 2, help: 'The item. Prints null if it does not exist.' },
  flags: { ...CONNECTION_FLAGS },
  formats: ['json', 'jsonl'],
  examples: [
    { line: 'svc stream get chat/room1 topic', shows: 'Its data as JSON.' },
    { line: 'svc stream get chat/room1 topic -o jsonl', shows: 'The same on one line.' },
  ],
  exitCodes: [EXIT.notFound, EXIT.timedOut, EXIT.unreachable, EXIT.refused],
  async run(context) {
    const { stream, group } = groupOperand(context.operands);
    const [, item = ''] = context.operands;
    const value = await withEngine(context, (engine) => engine.stream(stream).group(group).get(item), {
      printsValues: true,
    });
    context.output.printJson(value);
    return EXIT.done;
  },
});

export const streamSet = defineCommand({
  name: 'stream set',
  summary: 'Write an item and notify its subscribers.',
  operands: {
    usage: '<stream>/<group> <item> <json>',
    min: 3,
    max: 3,
    help: 'The item and its data as JSON; @file reads a file, - reads stdin.',
  },
  flags: { ...CONNECTION_FLAGS },
  formats: ['json', 'jsonl'],
  examples: [
    { line: `svc stream set chat/room1 m1 '{"text":"hello"}'`, shows: 'Writes it; prints nothing.' },
    { line: 'svc stream set chat/room1 m1 @message.json', shows: 'Reads the data from a file.' },
  ],
  exitCodes: [EXIT.notFound, EXIT.timedOut, EXIT.unreachable, EXIT.refused],
  async run(context) {
    const { stream, group } = groupOperand(context.operands);
    const [, item = '', source = ''] = context.operands;
    const data = await readJson(source, DATA_INPUT, context.terminal);
    await withEngine(context, (engine) => engine.stream(stream).group(group).set(item, data));
    return EXIT.done;
  },
});

export const streamDelete = defineCommand({
  name: 'stream delete',
  summary: 'Delete an item and notify its subscribers.',
  operands: { usage: '<stream>/<group> <item>', min: 2, max: 2, help: 'The item.' },
  details: ['Deleting an item that does not exist is not an error.'],
  flags: { ...CONNECTION_FLAGS },
  formats: ['json', 'jsonl'],
  examples: [
    { line: 'svc stream delete chat/room1 m1', shows: 'Deletes it; prints nothing.' },
    { line: 'svc stream delete -- chat/room1 -m1', shows: 'An item whose id begins with a dash.' },
  ],
  exitCodes: [EXIT.notFound, EXIT.timedOut, EXIT.unreachable, EXIT.refused],
  async run(context) {
    const { stream, group } = groupOperand(context.operands);
    const [, item = ''] = context.operands;
    await withEngine(context, (engine) => engine.stream(stream).group(group).delete(item));
    return EXIT.done;
  },
});

export const streamSend = defineCommand({
  name: 'stream send',
  summary: 'Send a custom event to the subscribers of a group.',
  operands: {
    usage: '<stream>/<group> <type> <json>',
    min: 3,
    max: 3,
    help: 'The type of the event and its data as JSON; @file reads a file, - reads stdin.',
  },
  flags: {
    item: { kind: 'text', placeholder: '<item>', help: 'The item that the event is about.' },
    ...CONNECTION_FLAGS,
  },
  formats: ['json', 'jsonl'],
  examples: [
    { line: `svc stream send chat/room1 typing '{"who":"ann"}'`, shows: 'Notifies every subscriber of the group.' },
    { line: `svc stream send chat/room1 seen true --item m1`, shows: 'Also notifies subscribers of this item only.' },
  ],
  exitCodes: [EXIT.notFound, EXIT.timedOut, EXIT.unreachable, EXIT.refused],
  async run(context) {
    const { stream, group } = groupOperand(context.operands);
    const [, type = '', source = ''] = context.operands;
    const data = await readJson(source, DATA_INPUT, context.terminal);
    await withEngine(context, (engine) => engine.stream(stream).group(group).send(type, data, context.flags.item));
    return EXIT.done;
  },
});

/** The first slash separates: a group may contain slashes, a stream may not. */
export function groupOperand([operand = '']: readonly string[]): { readonly stream: string; readonly group: string } {
  const slash = operand.indexOf('/');
  const [stream, group] = [operand.slice(0, slash), operand.slice(slash + 1)];
  if (slash < 1 || group === '') {
    throw usageFailure(`'${operand}' has no group.`, 'Write the stream, a slash and the group: chat/room1');
  }
  return { stream, group };
}

const DATA_INPUT: InputNames = {
  what: 'data',
  origin: 'the command line',
  hint: `In a shell, put it into single quotes: '{"text":"hello"}'`,
};

export interface ListPage {
  readonly offset?: number;
  readonly limit?: number;
}

/** Size of the first page, for a list that is too large for one answer. */
const PAGE_SIZE = 1_000;

/** A write between two pages may move items from one page to the next. */
export async function inPages<Item>(fetch: (page: ListPage) => Promise<readonly Item[]>): Promise<Item[]> {
  const found: Item[] = [];
  let limit: number | undefined;
  for (;;) {
    let items: readonly Item[];
    try {
      items = await fetch(limit === undefined ? {} : { offset: found.length, limit });
    } catch (error) {
      if (!(isSvcError(error) && error.code === 'RESULT_TOO_LARGE') || limit === 1) throw error;
      limit = limit === undefined ? PAGE_SIZE : Math.ceil(limit / 2);
      continue;
    }
    for (const item of items) found.push(item);
    if (limit === undefined || items.length < limit) return found;
  }
}
