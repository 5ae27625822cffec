// Streams, their groups, items and subscribers.

import type { StreamItem, StreamItemRow, StreamRow } from '../../../console/api/streams.ts';
import {
  validateListQuery,
  validateNoQuery,
  validateStreamPut,
  validateStreamSend,
  validateStreamsQuery,
} from '../../../generated/console-requests.ts';
import { RAW_NULL, type RawJson } from '../../../protocol/json/byte-string.ts';
import { typeOf } from '../../../store/commands/state/previews.ts';
import { CommandInput } from '../../../store/thread/command-input.ts';
import type { ConsoleContext } from '../console-context.ts';
import { rawOfBytes } from '../sources/built-ins.ts';
import { failure, notFound } from '../sources/failure.ts';
import { arrayItems, objectText, RawAnswer } from '../sources/json-text.ts';
import { cut, matches, pageOf, placeOf } from './page.ts';
import { type Route, reading, sending } from './route.ts';

const PREVIEW_BYTES = 256;
/** Streams that a list examines: one answer of the built-in function has no more. */
/** Groups of one stream in the list of all streams. */
const GROUPS_NAMED = 3;
const STREAMS_MAX = 10_000;
/** Streams of the engine and of its tools (modules 4). */
const SYSTEM = /^(svc|iii)[.:]|^__/;

export function streamRoutes(context: ConsoleContext): readonly Route[] {
  return [...listRoutes(context), ...itemRoutes(context)];
}

function listRoutes(context: ConsoleContext): readonly Route[] {
  const { builtIns, module } = context;
  return [
    reading('GET /streams', validateStreamsQuery, async ({ query }) => {
      const rows = (await listStreams(context))
        .filter((row) => query.system === true || row.type === 'user')
        .filter((row) => matches(query.q, row.name));
      return pageOf(rows, query, { name: (row) => row.name, groups: (row) => row.groups });
    }),
    reading('GET /streams/{stream}/groups', validateListQuery, async ({ name, query }) => {
      const { limit, offset } = placeOf(query);
      const before = Math.min(offset, 1);
      const asked = { stream_name: name(0), include_empty: true, offset: offset - before, limit: limit + before + 1 };
      const answer = await builtIns.ask('stream::list_groups', asked);
      // In drop-in mode it is the bare list.
      const names = Array.isArray(answer) ? answer : answer.groups;
      const page = cut(names.slice(before), limit, () => String(offset + limit));
      const subscribed = (module.taps.streamSubscribers?.groups() ?? []).filter(({ stream }) => stream === name(0));
      const after = before === 0 ? '' : (names[0] ?? '');
      const last = page.next_cursor === null ? undefined : page.items.at(-1);
      const empty = subscribed.map(({ group }) => group).filter((group) => isBetween(group, after, last));
      const groups = [...new Set([...page.items, ...empty])].sort(byBytes);
      const subscribers = (group: string): number => module.taps.streamSubscribers?.count(name(0), group) ?? 0;
      return { ...page, items: groups.map((group) => ({ group, subscribers: subscribers(group) })) };
    }),
    reading('GET /streams/{stream}/{group}/subscribers', validateListQuery, async ({ name, query }) => {
      if (!builtIns.has('stream::list')) return builtIns.text('stream::list', {}).then(() => pageOf([], query, {}));
      const subscribers = (await module.taps.streamSubscribers?.of(name(0), name(1))) ?? [];
      const rows = subscribers.map((one) => ({
        id: one.id,
        address: one.address,
        since: one.sinceMs,
        buffered_bytes: one.bufferedBytes,
        item: one.item,
      }));
      return pageOf(rows, query, { since: (row) => row.since, buffered_bytes: (row) => row.buffered_bytes });
    }),
    reading('GET /streams/{stream}/{group}/items', validateListQuery, async ({ name, query }) => {
      const { limit, offset } = placeOf(query);
      const asked = { stream_name: name(0), group_id: name(1), offset, limit: limit + 1, include_ids: true };
      const text = await builtIns.text('stream::list', asked);
      const rows = listedItems(text).map(itemRow);
      return cut(rows, limit, () => String(offset + limit));
    }),
  ];
}

function itemRoutes(context: ConsoleContext): readonly Route[] {
  const { builtIns } = context;
  return [
    reading('GET /streams/{stream}/{group}/items/{id}', validateNoQuery, async ({ name }) => {
      const place = { stream_name: name(0), group_id: name(1), item_id: name(2) };
      const text = await builtIns.text('stream::get', place);
      const data = context.module.router.isDropIn ? text : memberOf(text, 'value');
      if (data === 'null') throw notFound('Stream item', name(2));
      const facts: Omit<StreamItem, 'data'> = {
        stream: name(0),
        group: name(1),
        id: name(2),
        size: data.length,
      };
      return new RawAnswer(objectText({ ...facts }, { data }));
    }),
    sending('PUT /streams/{stream}/{group}/items/{id}', validateStreamPut, async ({ name, raw }) => {
      const data = raw('data');
      if (data === undefined) throw failure('BAD_REQUEST', "The body: field 'data' must be given");
      const place = { stream_name: name(0), group_id: name(1), item_id: name(2) };
      return new RawAnswer(await builtIns.ofText('stream::set', objectText(place, { data })));
    }),
    reading('DELETE /streams/{stream}/{group}/items/{id}', validateNoQuery, async ({ name }) => {
      const place = { stream_name: name(0), group_id: name(1), item_id: name(2) };
      const old = memberOf(await builtIns.text('stream::delete', place), 'old_value');
      return { removed: old !== 'null' };
    }),
    sending('POST /streams/send', validateStreamSend, async ({ body, raw }) => {
      const { data: _data, ...rest } = body;
      await builtIns.ofText('stream::send', objectText({ ...rest }, { data: raw('data') ?? RAW_NULL }));
      return { result: null };
    }),
  ];
}

export async function listStreams({
  builtIns,
  module,
}: Pick<ConsoleContext, 'builtIns' | 'module'>): Promise<StreamRow[]> {
  const { stream } = await builtIns.ask('stream::list_all', { include_empty: true, limit: STREAMS_MAX });
  const { streamSubscribers: subscribers } = module.taps;
  const groupsOf = new Map(stream.map(({ id, groups }) => [id, new Set(groups)]));
  for (const { stream: id, group } of subscribers?.groups() ?? []) {
    const known = groupsOf.get(id);
    if (known === undefined) groupsOf.set(id, new Set([group]));
    else known.add(group);
  }
  return [...groupsOf].map(([id, groups]) => ({
    name: id,
    groups: groups.size,
    first_groups: [...groups].slice(0, GROUPS_NAMED),
    type: SYSTEM.test(id) ? 'system' : 'user',
    subscribers: [...groups].reduce((sum, group) => sum + (subscribers?.count(id, group) ?? 0), 0),
  }));
}

/** Whether a page of groups, which are in the order of their bytes, would contain this one. */
function isBetween(group: string, after: string, last: string | undefined): boolean {
  return byBytes(group, after) > 0 && (last === undefined || byBytes(group, last) <= 0);
}

function byBytes(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}

export function isSystemStream(name: string): boolean {
  return SYSTEM.test(name);
}

function memberOf(text: RawJson, member: string): RawJson {
  const bytes = new CommandInput('the answer', Buffer.from(text, 'latin1')).json(member);
  return bytes === undefined ? RAW_NULL : rawOfBytes(bytes);
}

/** `{group: [{id, data}]}`, or in drop-in mode the bare list. */
function listedItems(text: RawJson): readonly Buffer[] {
  return arrayItems(Buffer.from(text.startsWith('[') ? text : memberOf(text, 'group'), 'latin1'));
}

function itemRow(item: Buffer): StreamItemRow {
  const input = new CommandInput('the answer', item);
  const data = input.json('data') ?? Buffer.from('null');
  const isTruncated = data.length > PREVIEW_BYTES;
  const id: unknown = JSON.parse(input.json('id')?.toString('utf8') ?? '""');
  return {
    id: String(id),
    type: typeOf(data),
    size: data.length,
    preview: new TextDecoder().decode(data.subarray(0, PREVIEW_BYTES), { stream: isTruncated }),
    truncated: isTruncated,
  };
}
