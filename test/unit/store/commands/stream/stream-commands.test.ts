// The functions of streams as the store runs them: their answers and their refusals.

import { describe, expect, test } from 'vitest';
import { Payload } from '../../../../../src/protocol/payload/payload.ts';
import { STORE_LIMITS } from '../../../../../src/store/thread/contract.ts';
import { messageOf, StreamStore } from '../../../../support/stores/stream-store.ts';

const GROUP = { stream_name: 's', group_id: 'g' };
const ITEM = { ...GROUP, item_id: 'i' };

describe('answers', () => {
  test('[modules 4.2] set returns the old and the new value, get the value, and delete the old value', () => {
    const store = new StreamStore();
    expect(store.ask('stream::set', { ...ITEM, data: { a: 1 } })).toEqual({ old_value: null, new_value: { a: 1 } });
    expect(store.ask('stream::set', { ...ITEM, data: null })).toEqual({ old_value: { a: 1 }, new_value: null });
    expect(store.ask('stream::get', ITEM)).toEqual({ value: null });
    expect(store.ask('stream::delete', ITEM)).toEqual({ old_value: null });
    expect(store.ask('stream::delete', ITEM)).toEqual({ old_value: null });
    expect(store.ask('stream::send', { ...GROUP, type: 't', data: 1 })).toEqual({ result: null });
  });

  test('[modules 4.2] lists of items, groups and streams are sorted by name', () => {
    const store = new StreamStore();
    for (const [stream_name, group_id, item_id] of ['bgx', 'bga', 'ahx', 'bfz']) {
      store.run('stream::set', { stream_name, group_id, item_id, data: `${stream_name}${group_id}${item_id}` });
    }
    expect(store.ask('stream::list', { stream_name: 'b', group_id: 'g' })).toEqual({ group: ['bga', 'bgx'] });
    const withIds = { stream_name: 'b', group_id: 'g', include_ids: true };
    expect(store.ask('stream::list', withIds)).toEqual({
      group: [
        { id: 'a', data: 'bga' },
        { id: 'x', data: 'bgx' },
      ],
    });
    expect(store.ask('stream::list', { ...withIds, offset: 1, limit: 5 })).toEqual({
      group: [{ id: 'x', data: 'bgx' }],
    });
    expect(store.ask('stream::list_groups', { stream_name: 'b' })).toEqual({ groups: ['f', 'g'] });
    const all = [
      { id: 'a', groups: ['h'] },
      { id: 'b', groups: ['f', 'g'] },
    ];
    expect(store.ask('stream::list_all')).toEqual({ stream: all, count: 2 });
    store.run('stream::delete', { stream_name: 'a', group_id: 'h', item_id: 'x' });
    expect(store.ask('stream::list_all')).toEqual({ stream: all.slice(1), count: 1 });
  });

  test('[S4] a stream with too many groups for a list is not listed in part', () => {
    const store = new StreamStore();
    const item = { item_id: 'i', data: 1 };
    for (let group = 0; group <= 10_000; group++) {
      store.run('stream::set', { stream_name: 'b', group_id: `${group}`, ...item });
    }
    for (const stream_name of ['a', 'c']) store.run('stream::set', { stream_name, group_id: 'g', ...item });
    expect(() => store.ask('stream::list_all')).toThrow('stream::list_groups');
    const rowAt = (offset: number) => store.ask('stream::list_all', { offset, limit: 1 });
    expect(rowAt(0)).toEqual({ stream: [{ id: 'a', groups: ['g'] }], count: 1 });
    expect(() => rowAt(1)).toThrow('Stream b has more than 10000 groups');
    expect(rowAt(2)).toEqual({ stream: [{ id: 'c', groups: ['g'] }], count: 1 });
  });

  test('[PD-2] in drop-in mode values and lists are bare, and a missing value is no result', () => {
    const store = new StreamStore();
    store.isDropIn = true;
    store.run('stream::set', { ...ITEM, data: 5 });
    expect(store.ask('stream::get', ITEM)).toBe(5);
    expect(store.ask('stream::get', { ...ITEM, item_id: 'other' })).toBe(undefined);
    expect(store.ask('stream::list', GROUP)).toEqual([5]);
    expect(store.ask('stream::list_groups', GROUP)).toEqual(['g']);
    expect(store.ask('stream::send', { ...GROUP, type: 't', data: 1 })).toBe(null);
    expect(store.ask('stream::list_all')).toEqual({ stream: [{ id: 's', groups: ['g'] }], count: 1 });
  });

  test('[S2] update applies the valid operations, reports the others, and writes nothing if all failed', () => {
    const store = new StreamStore();
    const ops = [
      { type: 'increment', path: 'n', by: 2 },
      { type: 'append', path: 'n', value: 'x' },
    ];
    const { events } = store.run('stream::update', { ...ITEM, ops });
    expect(events?.map(messageOf)).toMatchObject([{ seq: 1, event: { type: 'create', data: { n: 2 } } }]);
    expect(store.ask('stream::update', { ...ITEM, ops })).toMatchObject({
      ...{ old_value: { n: 2 }, new_value: { n: 4 } },
      errors: [{ op_index: 1, code: 'append.type_mismatch' }],
    });
    expect(store.run('stream::update', { ...ITEM, ops: ops.slice(1) }).events).toBe(undefined);
    expect(store.run('stream::update', { ...ITEM, ops: [] }).events).toBe(undefined);
    expect(store.subscribe(GROUP).seq).toBe(2);
  });

  test('[S6] a value is stored digit for digit, whatever its numbers and keys', () => {
    const store = new StreamStore();
    for (const data of [
      '12345678901234567890',
      '1e400',
      '-0',
      '{"__proto__":1,"a":1,"a":2}',
      '"\\ud800"',
      '  [1 , 2]',
    ]) {
      store.run('stream::set', `{"stream_name":"s","group_id":"g","item_id":"i","data":${data}}`);
      const { result } = store.run('stream::get', ITEM);
      expect(Buffer.from(result ?? []).toString()).toBe(`{"value":${data.trim()}}`);
    }
  });

  test('[X20] hostile names are ordinary names', () => {
    const store = new StreamStore();
    const names = [
      '..',
      '/',
      '../../etc/passwd',
      '__proto__',
      'a'.repeat(256),
      'ａ',
      'a b',
      '"',
      '\\',
      '\u{1f600}',
      'é',
    ];
    for (const name of names)
      store.run('stream::set', { stream_name: name, group_id: name, item_id: name, data: name });
    for (const name of names) {
      const place = { stream_name: name, group_id: name };
      expect(store.ask('stream::get', { ...place, item_id: name })).toEqual({ value: name });
      expect(store.ask('stream::list_groups', place)).toEqual({ groups: [name] });
    }
  });
});

describe('refusals', () => {
  const refusals: [string, string, object | string, string][] = [
    ['no names', 'stream::set', { data: 1 }, "'stream_name' must be string, found nothing"],
    ['no data', 'stream::set', ITEM, "'data' must be given"],
    ['a name that is none', 'stream::get', { ...ITEM, item_id: 7 }, "'item_id' must be string, found number"],
    ['an empty name', 'stream::get', { ...ITEM, item_id: '' }, "'item_id' of stream::get must not be empty"],
    ['a control character', 'stream::get', { ...ITEM, group_id: 'a\u0000' }, 'must not contain control characters'],
    ['a long name', 'stream::get', { ...ITEM, group_id: 'é'.repeat(129) }, 'is 258 bytes long, over the limit of 256'],
    ['a list', 'stream::get', '[]', 'the payload must be an object'],
    ['broken text', 'stream::get', '{"stream_name":', 'the payload must be an object'],
    ['ops that are none', 'stream::update', { ...ITEM, ops: 1 }, "'ops' must be a list of operations"],
    ['a limit of nothing', 'stream::list', { ...GROUP, limit: 0 }, "'limit' must be a whole number from 1 to 10000"],
    ['a send without a type', 'stream::send', { ...GROUP, data: 1 }, "'type' must be string, found nothing"],
  ];
  test.each(refusals)('[guarantees 4] %s', (_what, command, input, text) => {
    expect(() => new StreamStore().run(command, input)).toThrow(text);
  });

  test('[guarantees 4] a value over its limit, set or made by an update', () => {
    const store = new StreamStore();
    store.limits = { ...STORE_LIMITS, streamValueBytes: 10 };
    expect(() => store.run('stream::set', { ...ITEM, data: 'x'.repeat(9) })).toThrow(
      'has 11 bytes, over the limit of 10',
    );
    store.run('stream::set', { ...ITEM, data: '12345678' });
    const ops = [{ type: 'append', path: '', value: '9' }];
    expect(() => store.run('stream::update', { ...ITEM, ops })).toThrow('has 11 bytes, over the limit of 10');
  });

  test('[guarantees 4] a value that is nested too deep for a list or an event', () => {
    const store = new StreamStore();
    const nested = (levels: number) => `${'['.repeat(levels)}${']'.repeat(levels)}`;
    const input = (levels: number) => JSON.stringify(ITEM).replace('}', `,"data":${nested(levels)}}`);
    expect(() => store.run('stream::set', input(126))).toThrow('is nested deeper than 125 levels');
    expect(() => store.run('stream::send', input(126).replace('item_id', 'type'))).toThrow('deeper than 125 levels');
    store.run('stream::set', input(125));
    const { result = new Uint8Array() } = store.run('stream::list', { ...GROUP, include_ids: true });
    expect(Payload.ofBytes(Buffer.from(result), 0, result.length).asText()).toContain(nested(125));
  });

  test('[S4] a list or snapshot of more than 10 000 items, which are available in pages', () => {
    const store = new StreamStore();
    for (let n = 0; n < 10_001; n++) store.run('stream::set', { ...GROUP, item_id: String(n), data: n });
    expect(() => store.run('stream::list', GROUP)).toThrow("Ask for a page with 'offset' and 'limit'");
    expect(store.ask('stream::list', { ...GROUP, offset: 10_000, limit: 10 })).toMatchObject({
      group: [expect.any(Number)],
    });
    expect(() => store.run('stream.subscribe', GROUP)).toThrow('Subscribe to single items');
  });
});
