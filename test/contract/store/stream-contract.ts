// What every store promises for streams. One suite, run against each store: commands in, replies out.

import { beforeAll, describe, expect, test } from 'vitest';
import type { Store, StoreEvent } from '../../../src/store/thread/contract.ts';
import { JSON_EDGES } from '../../support/random/json-edges.ts';
import { canonicalJson, readUpdateVectors } from '../../support/random/update-vectors.ts';
import { type CommandResult, run, runText } from '../../support/stores/store-commands.ts';
import type { ReadMessage } from '../../support/stores/stream-store.ts';
import type { RunningStore } from './store-contract.ts';

export interface Position {
  readonly epoch: string;
  readonly seq: number;
}

/** The first messages of a subscriber, and its position after them. */
export async function subscribe(store: Store, input: object) {
  const { value, events = [], error } = await run(store, 'stream.subscribe', input);
  return { at: value as Position, messages: events.map(messageOf), error };
}

export function messageOf({ body }: StoreEvent): ReadMessage {
  return JSON.parse(Buffer.from(body).toString());
}

/** `start` returns an empty store; the caller ends it after the suite. */
export function streamContract(name: string, start: () => Promise<RunningStore>): void {
  let running: RunningStore;
  let streams = 0;
  beforeAll(async () => {
    running = await start();
  });
  const newStream = (): string => `stream-${++streams}`;
  const newGroup = () => ({ stream_name: newStream(), group_id: 'g' });
  const call = (command: string, input: object): Promise<CommandResult> => run(running.store, command, input);
  const set = (place: object, item_id: string, data: unknown) => call('stream::set', { ...place, item_id, data });

  describe(`streams on ${name}: what the functions answer`, () => {
    test('[modules 4.2] set gives old and new value, get the value, delete what was there', async () => {
      const item = { ...newGroup(), item_id: 'i' };
      const answers = [
        await call('stream::set', { ...item, data: { a: 1 } }),
        await call('stream::set', { ...item, data: null }),
        await call('stream::get', item),
        await call('stream::delete', item),
        await call('stream::delete', item),
        await call('stream::get', item),
        await call('stream::send', { ...item, type: 't', data: 1 }),
      ];
      expect(answers.map(({ value }) => value)).toEqual([
        { old_value: null, new_value: { a: 1 } },
        { old_value: { a: 1 }, new_value: null },
        { value: null },
        { old_value: null },
        { old_value: null },
        { value: null },
        { result: null },
      ]);
    });

    test('[S4] lists are of items, groups and streams in the order of their names', async () => {
      const [a, b] = [newStream(), newStream()];
      for (const [stream_name, group_id, item_id] of [
        [b, 'g', 'x'],
        [b, 'g', 'ä'],
        [b, 'g', 'a'],
        [a, 'h', 'x'],
        [b, 'f', 'z'],
      ] as const) {
        await set({ stream_name, group_id }, item_id, item_id);
      }
      const group = { stream_name: b, group_id: 'g' };
      expect((await call('stream::list', group)).value).toEqual({ group: ['a', 'x', 'ä'] });
      const page = { ...group, include_ids: true, offset: 1, limit: 1 };
      expect((await call('stream::list', page)).value).toEqual({ group: [{ id: 'x', data: 'x' }] });
      expect((await call('stream::list_groups', { stream_name: b })).value).toEqual({ groups: ['f', 'g'] });
      const limited = await call('stream::list_groups', { stream_name: b, offset: 1, limit: 1 });
      expect(limited.value).toEqual({ groups: ['g'] });
      const rows = async () => rowsIn((await call('stream::list_all', {})).value, [a, b]);
      expect(await rows()).toEqual([
        { id: a, groups: ['h'] },
        { id: b, groups: ['f', 'g'] },
      ]);
      await call('stream::delete', { stream_name: a, group_id: 'h', item_id: 'x' });
      expect(await rows()).toEqual([{ id: b, groups: ['f', 'g'] }]);
      const { count } = (await call('stream::list_all', { offset: 0, limit: 1 })).value as { count: number };
      expect(count).toBe(1);
    });

    test('[modules 4.2] a group without items is listed on request while its events are kept', async () => {
      const [stream_name, other] = [newStream(), newStream()];
      await call('stream::send', { stream_name, group_id: 'sent', type: 'hello', data: 1 });
      await set({ stream_name, group_id: 'held' }, 'x', 1);
      await set({ stream_name: other, group_id: 'g' }, 'x', 1);
      await call('stream::delete', { stream_name: other, group_id: 'g', item_id: 'x' });
      const listed = async (asked: object) =>
        rowsIn((await call('stream::list_all', asked)).value, [stream_name, other]);
      expect(await listed({})).toEqual([{ id: stream_name, groups: ['held'] }]);
      expect(await listed({ include_empty: true })).toEqual([
        { id: stream_name, groups: ['held', 'sent'] },
        { id: other, groups: ['g'] },
      ]);
      const groupsOf = async (asked: object) => (await call('stream::list_groups', { stream_name, ...asked })).value;
      expect(await groupsOf({})).toEqual({ groups: ['held'] });
      expect(await groupsOf({ include_empty: true, offset: 1, limit: 1 })).toEqual({ groups: ['sent'] });
    });

    test('[S6] a value is returned with the text it was sent with, and in the event as well', async () => {
      const group = newGroup();
      for (const { name: item_id, text } of JSON_EDGES) {
        const input = { ...group, item_id };
        const json = `${JSON.stringify(input).slice(0, -1)},"data": ${text} }`;
        const { events = [] } = await runText(running.store, 'stream::set', json);
        expect((await call('stream::get', input)).text).toBe(`{"value":${text}}`);
        expect(Buffer.from(events[0]?.body ?? []).toString()).toContain(`{"type":"create","data":${text}}}`);
      }
    });

    test('[S2] every vector of update operations comes out as the table says', async () => {
      for (const { name: item_id, old, ops, new: after = null, errors, refused, changed } of readUpdateVectors()) {
        const item = { ...newGroup(), item_id: 'i' };
        if (old !== undefined) await call('stream::set', { ...item, data: old });
        const { text, value, error, events = [] } = await call('stream::update', { ...item, ops });
        const answer = Object(value);
        // A value of a stream is wrapped once more than one of state, and has to be readable too.
        const refusal = depthOf(after) > DEPTH_MAX ? 'BAD_REQUEST' : refused?.code;
        const isChanged = changed && refusal === undefined;
        expect([item_id, error?.code, events.length > 0]).toEqual([item_id, refusal, isChanged]);
        if (text === undefined) continue;
        expect(canonicalJson(answer.new_value)).toBe(canonicalJson(JSON.parse(JSON.stringify(after))));
        expect((answer.errors ?? []).map(({ code }: { code: string }) => code)).toEqual(errors.map(({ code }) => code));
      }
    });

    test('[S3] increments of many callers at once end at exactly their number', async () => {
      const item = { ...newGroup(), item_id: 'n' };
      const ops = [{ type: 'increment', path: 'n', by: 1 }];
      const replies = await Promise.all(Array.from({ length: 200 }, () => call('stream::update', { ...item, ops })));
      const seen = replies.map(({ value }) => Object(value).new_value.n);
      expect(new Set(seen).size).toBe(200);
      expect((await call('stream::get', item)).value).toEqual({ value: { n: 200 } });
    });
  });

  describe(`streams on ${name}: what they refuse`, () => {
    const group = { stream_name: 's', group_id: 'g' };
    const item = { ...group, item_id: 'i' };
    test.each<[string, string, object, string]>([
      ['no names', 'stream::set', { data: 1 }, "'stream_name' must be string, found nothing"],
      ['no data', 'stream::set', item, "'data' must be given"],
      ['an empty name', 'stream::get', { ...item, item_id: '' }, "'item_id' of stream::get must not be empty"],
      ['a control character', 'stream::get', { ...item, group_id: 'a\n' }, 'must not contain control characters'],
      ['a long name', 'stream::get', { ...item, group_id: 'é'.repeat(129) }, 'is 258 bytes long'],
      ['ops that are none', 'stream::update', { ...item, ops: 1 }, "'ops' must be a list of operations"],
      ['a limit of nothing', 'stream::list', { ...group, limit: 0 }, "'limit' must be a whole number from 1"],
      ['a large value', 'stream::set', { ...item, data: 'x'.repeat(4 * 1024 * 1024) }, 'over the limit of 4194304'],
    ])('[guarantees 4] %s', async (_what, command, input, text) => {
      expect((await call(command, input)).error?.message).toContain(text);
    });

    test('[S4] a list of more than 4 MiB is refused, has pages, and is no snapshot', async () => {
      const group = newGroup();
      for (const item_id of ['a', 'b', 'c']) await set(group, item_id, 'x'.repeat(1_500_000));
      expect((await call('stream::list', group)).error?.code).toBe('RESULT_TOO_LARGE');
      const { value } = await call('stream::list', { ...group, offset: 1, limit: 2 });
      expect(Object(value).group).toHaveLength(2);
      expect((await subscribe(running.store, group)).error?.message).toContain('Subscribe to single items');
      expect((await subscribe(running.store, { ...group, id: 'b' })).messages).toHaveLength(1);
    });

    test('[X20] hostile names are names like any other', async () => {
      const names = [
        '..',
        '/',
        '../../etc/passwd',
        '__proto__',
        'a'.repeat(256),
        'a b',
        '"',
        '\\',
        '{',
        '}',
        '{}',
        '%7B',
      ];
      const stream_name = newStream();
      for (const name of names) await set({ stream_name, group_id: name }, name, name);
      for (const name of names) {
        const place = { stream_name, group_id: name };
        expect((await call('stream::get', { ...place, item_id: name })).value).toEqual({ value: name });
        expect((await call('stream::list', place)).value).toEqual({ group: [name] });
      }
      const sorted = [...names].sort((one, other) => Buffer.compare(Buffer.from(one), Buffer.from(other)));
      expect((await call('stream::list_groups', { stream_name })).value).toEqual({ groups: sorted });
    });
  });

  describe(`streams on ${name}: events`, () => {
    test('[T2] every event of a group has the next number, whatever it is about', async () => {
      const group = newGroup();
      const { at } = await subscribe(running.store, group);
      const replies = await Promise.all([
        set(group, 'a', 1),
        call('stream::send', { ...group, type: 't', data: 1 }),
        set({ ...group, group_id: 'other' }, 'a', 1),
        call('stream::delete', { ...group, item_id: 'a' }),
        call('stream::delete', { ...group, item_id: 'a' }),
        call('stream::update', { ...group, item_id: 'a', ops: [{ type: 'set', path: '', value: 1 }] }),
        call('stream.announce', { ...group, item_id: 'b', kind: 'update', data: 2 }),
      ]);
      const own = replies.flatMap(({ events = [] }) => events).filter(({ path }) => path[1] === 'g');
      expect(own.map(({ seq }) => seq - at.seq)).toEqual([1, 2, 3, 4, 5]);
      expect(own.map((event) => messageOf(event))).toMatchObject([
        { id: 'a', epoch: at.epoch, event: { type: 'create', data: 1 } },
        { id: null, event: { type: 'event', event: { type: 't', data: 1 } } },
        { id: 'a', event: { type: 'delete', data: 1 } },
        { id: 'a', event: { type: 'create', data: 1 } },
        { id: 'b', event: { type: 'update', data: 2 } },
      ]);
    });

    test('[T3] a snapshot has what is there, and the number up to which it is', async () => {
      const group = newGroup();
      const before = (await subscribe(running.store, group)).at;
      for (const item_id of ['b', 'a', 'b']) await set(group, item_id, item_id);
      const { at, messages } = await subscribe(running.store, group);
      expect(at).toEqual({ ...before, seq: before.seq + 3 });
      expect(messages).toMatchObject([
        { ...at, event: { type: 'sync', data: ['a', 'b'], ids: ['a', 'b'], recovered: false } },
      ]);
      const one = await subscribe(running.store, { ...group, id: 'b' });
      expect(one.messages).toMatchObject([{ id: 'b', event: { type: 'sync', data: 'b', recovered: false } }]);
      const none = await subscribe(running.store, { ...group, id: 'z' });
      expect(none.messages).toMatchObject([{ id: 'z', event: { type: 'sync', data: null } }]);
    });

    test('[T4] a subscriber that missed events that are kept gets exactly these, and others a snapshot', async () => {
      const group = newGroup();
      const { at } = await subscribe(running.store, group);
      for (let n = 1; n <= 5; n++) await set(group, n % 2 ? 'odd' : 'even', n);
      const since = { epoch: at.epoch, seq: at.seq + 2 };
      const whole = await subscribe(running.store, { ...group, ...since });
      expect(whole.messages[0]).toMatchObject({ seq: since.seq, event: { type: 'sync', recovered: true } });
      expect(whole.messages.slice(1).map(({ event }) => event.data)).toEqual([3, 4, 5]);
      const item = await subscribe(running.store, { ...group, id: 'even', ...since });
      expect(item.messages.slice(1).map(({ event }) => event.data)).toEqual([4]);
      for (const strange of [
        { ...since, epoch: 'other' },
        { ...since, seq: at.seq + 6 },
      ]) {
        const { messages } = await subscribe(running.store, { ...group, ...strange });
        expect(messages).toMatchObject([{ event: { type: 'sync', recovered: false } }]);
      }
    });

    test('[T4] events leave the history by count and by bytes, the oldest first', async () => {
      const recovers = async (group: object, epoch: string, seq: number): Promise<boolean> => {
        const { messages } = await subscribe(running.store, { ...group, epoch, seq });
        return messages[0]?.event.recovered === true;
      };
      const byCount = newGroup();
      const { epoch, seq } = (await subscribe(running.store, byCount)).at;
      await Promise.all(Array.from({ length: 1_001 }, (_, n) => set(byCount, 'a', n)));
      expect(await recovers(byCount, epoch, seq)).toBe(false);
      expect(await recovers(byCount, epoch, seq + 1)).toBe(true);
      const byBytes = newGroup();
      const first = (await subscribe(running.store, byBytes)).at;
      for (let n = 1; n <= 3; n++) await set(byBytes, 'a', 'x'.repeat(400_000));
      expect(await recovers(byBytes, epoch, first.seq)).toBe(false);
      expect(await recovers(byBytes, epoch, first.seq + 1)).toBe(true);
      await set(byBytes, 'a', 'x'.repeat(1_100_000));
      expect(await recovers(byBytes, epoch, first.seq + 3)).toBe(false);
      expect(await recovers(byBytes, epoch, first.seq + 4)).toBe(true);
    });
  });

  test(`[R1] what ${name} promises to keep of a stream is there after a restart, history and epoch as well`, async () => {
    const group = newGroup();
    const { at } = await subscribe(running.store, group);
    await set(group, 'a', 'kept');
    if (running.restart === undefined) return;
    running = { ...running, store: await running.restart() };
    expect((await call('stream::list', group)).value).toEqual({ group: ['kept'] });
    const { messages } = await subscribe(running.store, { ...group, ...at });
    expect(messages).toMatchObject([{ event: { recovered: true } }, { event: { type: 'create', data: 'kept' } }]);
  });
}

const DEPTH_MAX = 125;

function depthOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  return 1 + Math.max(0, ...Object.values(value).map(depthOf));
}

function rowsIn(value: unknown, ids: readonly string[]): unknown[] {
  const { stream } = value as { stream: { id: string }[] };
  return stream.filter(({ id }) => ids.includes(id));
}
