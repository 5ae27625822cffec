// What every store promises the modules. One suite, run against each store: commands in, replies out.

import { beforeAll, describe, expect, test } from 'vitest';
import { parseExactJson } from '../../../src/core/calls/exact-json.ts';
import { isObject } from '../../../src/core/update-ops/kinds.ts';
import type { Store, StoreEvent, StoreReply } from '../../../src/store/thread/contract.ts';
import { JSON_EDGES } from '../../support/random/json-edges.ts';
import { forEachSeedInTurn, type SeededRandom } from '../../support/random/seeded-random.ts';
import { canonicalJson, readUpdateVectors, type UpdateVector } from '../../support/random/update-vectors.ts';
import { run, runText } from '../../support/stores/store-commands.ts';

export interface RunningStore {
  readonly store: Store;
  /** Restarts it on the same data; absent for a store that keeps nothing. */
  restart?(): Promise<Store>;
}

/** `start` returns an empty store; the caller ends it after the suite. */
/** Engines compute updates of large values on another thread, where the store is a Redis. */
const SIZES = ['small', 'large'] as const;

function fillerOf(size: (typeof SIZES)[number]): string {
  return size === 'small' ? '' : 'x'.repeat(50_000);
}

export function storeContract(name: string, start: () => Promise<RunningStore>): void {
  let running: RunningStore;
  let scopes = 0;
  const store = (): Store => running.store;
  const newScope = (): string => `scope-${++scopes}`;
  beforeAll(async () => {
    running = await start();
  });
  const call = (command: string, input: unknown) => run(store(), command, input);

  describe(`state on ${name}: reading and writing`, () => {
    test('[S1] A value that was set is read, with the pair of old and new for the writer', async () => {
      const scope = newScope();
      expect((await call('state::set', { scope, key: 'k', value: 1 })).value).toEqual({
        old_value: null,
        new_value: 1,
      });
      expect((await call('state::set', { scope, key: 'k', data: { a: [2] } })).value).toEqual({
        old_value: 1,
        new_value: { a: [2] },
      });
      expect((await call('state::get', { scope, key: 'k' })).value).toEqual({ a: [2] });
    });

    test('[S1] A missing or deleted value is null', async () => {
      const scope = newScope();
      expect((await call('state::get', { scope, key: 'k' })).text).toBe('null');
      await call('state::set', { scope, key: 'k', value: 'x' });
      expect((await call('state::delete', { scope, key: 'k' })).text).toBe('"x"');
      expect((await call('state::delete', { scope, key: 'k' })).text).toBe('null');
      expect((await call('state::get', { scope, key: 'k' })).text).toBe('null');
    });

    test('[S1] Commands take effect in the order they were given', async () => {
      const scope = newScope();
      const replies = await Promise.all(
        Array.from({ length: 200 }, (_, index) => call('state::set', { scope, key: 'k', value: index })),
      );
      expect(replies.map(({ value }) => value)).toEqual(
        replies.map((_, index) => ({ old_value: index === 0 ? null : index - 1, new_value: index })),
      );
    });

    test('[STA-1] A table of entries shows when each was last written', async () => {
      const scope = newScope();
      const timeOf = async (key: string): Promise<number> => {
        const { text = '' } = await call('state::list', { scope, prefix: key, preview_bytes: 10 });
        return Number(/"updated_at":(\d+)/.exec(text)?.[1]);
      };
      const begunMs = Date.now();
      await call('state::set', { scope, key: 'set', value: 1 });
      const setMs = await timeOf('set');
      expect(setMs).toBeGreaterThanOrEqual(begunMs);
      expect(setMs).toBeLessThanOrEqual(Date.now());
      const otherMs = Date.now();
      await call('state::update', { scope, key: 'other', ops: [{ type: 'increment', path: '', by: 1 }] });
      expect(await timeOf('other')).toBeGreaterThanOrEqual(otherMs);
      expect(await timeOf('set')).toBe(setMs);
      expect((await call('state::get', { scope, key: 'other' })).text).toBe('1');
    });

    test('[S6] Every value is returned with the text it was sent with', async () => {
      const scope = newScope();
      for (const { name: key, text } of JSON_EDGES) {
        const json = JSON.stringify(key);
        const set = await runText(store(), 'state::set', `{"scope":"${scope}","key":${json},"value": ${text} }`);
        expect(set.text).toBe(`{"old_value":null,"new_value":${text}}`);
        expect((await call('state::get', { scope, key })).text).toBe(text);
      }
      const texts = [...JSON_EDGES].sort((a, b) => Buffer.compare(Buffer.from(a.name), Buffer.from(b.name)));
      expect((await call('state::list', { scope })).text).toBe(`[${texts.map(({ text }) => text).join(',')}]`);
    });

    test.each(SIZES)(
      '[S6] An update of a %s value keeps untouched parts, also numbers it cannot represent',
      async (size) => {
        const scope = newScope();
        const filler = JSON.stringify(fillerOf(size));
        for (const { name: key, text, afterUpdate } of JSON_EDGES) {
          const json = JSON.stringify(key);
          await runText(
            store(),
            'state::set',
            `{"scope":"${scope}","key":${json},"value":{"filler":${filler},"kept":${text}}}`,
          );
          const ops = [{ type: 'set', path: 'added', value: 1 }];
          await call('state::update', { scope, key, ops });
          expect((await call('state::get', { scope, key })).text).toBe(
            `{"filler":${filler},"kept":${afterUpdate},"added":1}`,
          );
        }
      },
    );
  });

  describe(`state on ${name}: updates`, () => {
    test.each(SIZES)('[S2] Operations run in order on one %s value; one that fails is reported', async (size) => {
      const scope = newScope();
      const filler = fillerOf(size);
      await call('state::set', { scope, key: 'k', value: { n: 1, name: 'ann', filler } });
      const ops = [
        { type: 'increment', path: 'n', by: 2 },
        { type: 'increment', path: 'name', by: 1 },
        { type: 'set', path: 'done', value: true },
      ];
      const { value, events } = await call('state::update', { scope, key: 'k', ops });
      expect(value).toMatchObject({
        old_value: { n: 1, name: 'ann', filler },
        new_value: { n: 3, name: 'ann', filler, done: true },
        errors: [{ op_index: 1, code: 'increment.not_number' }],
      });
      expect(events).toHaveLength(1);
    });

    test('[S2] If every operation fails, or there is none, nothing is written and no event is sent', async () => {
      const scope = newScope();
      const failing = await call('state::update', { scope, key: 'k', ops: [{ type: 'merge', value: 1 }] });
      expect(failing.value).toMatchObject({ old_value: null, new_value: null, errors: [{ op_index: 0 }] });
      const none = await call('state::update', { scope, key: 'k', ops: [] });
      expect(none.text).toBe('{"old_value":null,"new_value":null}');
      expect([...(failing.events ?? []), ...(none.events ?? [])]).toEqual([]);
      expect((await call('state::list', { scope })).text).toBe('[]');
    });

    test('[S2] Every vector of update operations comes out as the table says', async () => {
      const vectors = readUpdateVectors();
      const found = await Promise.all(vectors.map((vector) => outcomeOf(store(), newScope(), vector)));
      expect(found).toEqual(vectors.map((vector) => expectedOutcome(vector)));
    });

    test('[S3] Increments of many callers at once end at exactly their number, and each saw a number of its own', async () => {
      await forEachSeedInTurn(3, async (random) => {
        const scope = newScope();
        const count = random.between(50, 400);
        const replies = await Promise.all(Array.from({ length: count }, () => incrementOnce(store(), scope, random)));
        expect(new Set(replies).size).toBe(count);
        expect((await call('state::get', { scope, key: 'n' })).value).toEqual({ count });
      });
    });

    test.each([
      ['state::update', {}],
      ['state::update', { ops: 'none' }],
      ['state::update', { ops: [{ type: 'grow', path: 'a' }] }],
      ['state::set', {}],
    ])('[S2] %s with %j is refused and changes nothing', async (command, fields) => {
      const scope = newScope();
      expect((await call(command, { scope, key: 'k', ...fields })).error?.code).toBe('deserialization_error');
      expect((await call('state::list', { scope })).text).toBe('[]');
    });
  });

  describe(`state on ${name}: lists`, () => {
    test('[S4] A list has the values of one scope, ascending by the bytes of their keys', async () => {
      const scope = newScope();
      const keys = ['b', 'a', 'ä', 'B', '10', '9', '😀', '\ufffd', 'a b'];
      for (const key of keys) await call('state::set', { scope, key, value: key });
      await call('state::set', { scope: `${scope}x`, key: 'other', value: 'of another scope' });
      const sorted = [...keys].sort((one, other) => Buffer.compare(Buffer.from(one), Buffer.from(other)));
      expect((await call('state::list', { scope })).value).toEqual(sorted);
      const withKeys = await call('state::list', { scope, include_keys: true, offset: 2, limit: 3 });
      expect(withKeys.value).toEqual(sorted.slice(2, 5).map((key) => ({ key, value: key })));
      expect((await call('state::list', { scope, offset: 100 })).text).toBe('[]');
    });

    test('[S4] The groups are the scopes that hold something, sorted, each once', async () => {
      const before = (await call('state::list_groups', {})).value;
      const scope = newScope();
      for (const name of ['z', 'é', 'a', 'zz']) {
        await call('state::set', { scope: `${scope}${name}`, key: 'k', value: 0 });
        await call('state::set', { scope: `${scope}${name}`, key: 'l', value: 0 });
      }
      const { groups } = groupsOf((await call('state::list_groups', {})).value);
      const added = groups.filter((group) => !groupsOf(before).groups.includes(group));
      expect(added).toEqual(['a', 'z', 'zz', 'é'].map((name) => `${scope}${name}`));
      expect(groups).toEqual([...groups].sort((one, other) => Buffer.compare(Buffer.from(one), Buffer.from(other))));
    });

    test('[S4] Pages of groups are parts of the whole list, by offset and after a name', async () => {
      const scope = newScope();
      const names = Array.from({ length: 12 }, (_, index) => `${scope}${String(index).padStart(2, '0')}`);
      // Scopes of one entry, of a few, and of many more than are skipped one by one.
      for (const [index, name] of names.entries()) {
        const keys = Array.from({ length: [1, 3, 40][index % 3] ?? 1 }, (_, key) => `k${key}`);
        await Promise.all(keys.map((key) => call('state::set', { scope: name, key, value: 0 })));
      }
      const { groups } = groupsOf((await call('state::list_groups', {})).value);
      expect(groups.filter((group) => group.startsWith(scope))).toEqual(names);
      const first = groups.indexOf(names[0] ?? '');
      const limit = 5;
      for (const offset of [0, 1, 5, 11]) {
        const byOffset = await call('state::list_groups', { offset: first + offset, limit });
        expect(groupsOf(byOffset.value).groups).toEqual(groups.slice(first + offset, first + offset + limit));
        const after = names[offset];
        const byName = await call('state::list_groups', { after, limit });
        expect(groupsOf(byName.value).groups).toEqual(groups.slice(first + offset + 1, first + offset + 1 + limit));
      }
      const beyond = await call('state::list_groups', { offset: Number.MAX_SAFE_INTEGER, limit: 1 });
      expect(groupsOf(beyond.value).groups).toEqual([]);
    });

    test('[S4] A prefix narrows a list to the keys that begin with it', async () => {
      const scope = newScope();
      for (const key of ['a', 'ab', 'ab\u{10ffff}', 'b', 'aé', 'Ab'])
        await call('state::set', { scope, key, value: key });
      expect((await call('state::list', { scope, prefix: 'a' })).value).toEqual(['a', 'ab', 'ab\u{10ffff}', 'aé']);
      expect((await call('state::list', { scope, prefix: 'ab', limit: 1 })).value).toEqual(['ab']);
      expect((await call('state::list', { scope, prefix: 'b', after: 'a' })).value).toEqual(['b']);
      expect((await call('state::list', { scope, prefix: 'a', after: 'b' })).value).toEqual([]);
      expect((await call('state::list', { scope, prefix: '', after: null, contains: null })).value).toHaveLength(6);
    });

    test('[S4] Pages after a name neither skip nor repeat, though listed keys are deleted meanwhile', async () => {
      const scope = newScope();
      const keys = Array.from({ length: 20 }, (_, index) => `k${String(index).padStart(2, '0')}`);
      await Promise.all(keys.map((key) => call('state::set', { scope, key, value: key })));
      const listed: unknown[] = [];
      for (;;) {
        const after = listed.at(-1);
        const page = (await call('state::list', { scope, limit: 3, after })).value;
        if (!Array.isArray(page) || page.length === 0) break;
        for (const key of page) await call('state::delete', { scope, key });
        listed.push(...page);
      }
      expect(listed).toEqual(keys);
    });

    test('[S4] A list that is too large is refused and is available in pages', async () => {
      const scope = newScope();
      const value = 'x'.repeat(1_500_000);
      for (const key of ['a', 'b', 'c']) await call('state::set', { scope, key, value });
      expect((await call('state::list', { scope })).error).toMatchObject({
        code: 'RESULT_TOO_LARGE',
        message: expect.stringContaining("'offset' and 'limit'"),
      });
      expect((await call('state::list', { scope, offset: 1, limit: 2 })).value).toEqual([value, value]);
    });

    test.each([
      [{ limit: 0 }],
      [{ limit: 10_001 }],
      [{ offset: -1 }],
      [{ offset: 1.5 }],
      [{ limit: 'all' }],
      [{ include_keys: 1 }],
    ])('[S4] A page of %j is refused', async (page) => {
      expect((await call('state::list', { scope: 's', ...page })).error?.code).toBe('deserialization_error');
    });
  });

  describe(`state on ${name}: names and limits`, () => {
    test.each([
      ['an empty scope', { scope: '', key: 'k' }, 'BAD_REQUEST'],
      ['an empty key', { scope: 's', key: '' }, 'BAD_REQUEST'],
      ['a key of 257 bytes', { scope: 's', key: `${'é'.repeat(128)}x` }, 'BAD_REQUEST'],
      ['a control character', { scope: 's', key: 'a\u0000b' }, 'BAD_REQUEST'],
      ['half of a surrogate pair', { scope: 's', key: '\ud800' }, 'BAD_REQUEST'],
      ['a scope that is a number', { scope: 1, key: 'k' }, 'deserialization_error'],
      ['no key', { scope: 's' }, 'deserialization_error'],
    ])('%s is refused by every function that takes one', async (_case, names, code) => {
      for (const command of ['state::get', 'state::set', 'state::delete', 'state::update']) {
        const { error } = await call(command, { ...names, value: 1, ops: [] });
        expect(error?.code).toBe(code);
        expect(error?.message).toMatch(/field '(scope|key)'/i);
      }
    });

    test('A key of 256 bytes is accepted', async () => {
      const scope = newScope();
      await call('state::set', { scope, key: 'é'.repeat(128), value: 1 });
      expect((await call('state::get', { scope, key: 'é'.repeat(128) })).value).toBe(1);
    });

    test('A value over the limit is refused, set or made by an update, and the old one stays', async () => {
      const scope = newScope();
      const largest = 'x'.repeat(4 * 1024 * 1024 - 2);
      expect((await call('state::set', { scope, key: 'k', value: largest })).error).toBeUndefined();
      expect((await call('state::set', { scope, key: 'k', value: `${largest}x` })).error?.code).toBe(
        'PAYLOAD_TOO_LARGE',
      );
      const ops = [{ type: 'append', value: 'x' }];
      expect((await call('state::update', { scope, key: 'k', ops })).error?.code).toBe('PAYLOAD_TOO_LARGE');
      expect((await call('state::get', { scope, key: 'k' })).value).toBe(largest);
    });

    test('Input that is not a JSON object is refused', async () => {
      for (const input of ['[]', '1', '{"scope":"s"', '{"scope":"s","key":"k","value":01}', '']) {
        expect((await runText(store(), 'state::get', input)).error?.code).toBe('deserialization_error');
      }
      const broken = new Promise<StoreReply>((resolve) =>
        store().run('state::get', Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]), resolve),
      );
      expect((await broken).error?.code).toBe('BAD_REQUEST');
    });
  });

  describe(`state on ${name}: events`, () => {
    test('[S5] Each change is reported once, in order, with old and new value', async () => {
      const scope = newScope();
      const replies = await Promise.all([
        call('state::set', { scope, key: 'k', value: 1 }),
        call('state::set', { scope, key: 'k', value: 1 }),
        call('state::update', { scope, key: 'k', ops: [{ type: 'increment', by: 1 }] }),
        call('state::delete', { scope, key: 'k' }),
        call('state::delete', { scope, key: 'k' }),
      ]);
      const events = replies.flatMap(({ events = [] }) => events);
      expect(events.map(({ kind, path }) => [kind, ...path])).toEqual([
        ['state:updated', scope, 'k'],
        ['state:updated', scope, 'k'],
        ['state:updated', scope, 'k'],
        ['state:deleted', scope, 'k'],
      ]);
      expect(events.map((event) => pairIn(event))).toEqual([
        [null, 1],
        [1, 1],
        [1, 2],
        [2, null],
      ]);
    });

    test('Without a listener no events are made', async () => {
      const scope = newScope();
      const { events } = await runText(store(), 'state::set', `{"scope":"${scope}","key":"k","value":1}`, false);
      expect(events ?? []).toEqual([]);
    });
  });

  test(`[R1] What ${name} promises to keep is there after a restart`, async () => {
    const scope = newScope();
    await call('state::set', { scope, key: 'k', value: 'kept' });
    if (running.restart === undefined) return;
    const table = await call('state::list', { scope, preview_bytes: 10 });
    running = { ...running, store: await running.restart() };
    expect((await call('state::get', { scope, key: 'k' })).value).toBe('kept');
    expect((await call('state::list', { scope, preview_bytes: 10 })).text).toBe(table.text);
  });
}

async function incrementOnce(store: Store, scope: string, random: SeededRandom): Promise<unknown> {
  const by = [{ type: 'increment', path: 'count', by: 1 }];
  // Others read and list in between, in any order.
  if (random.chance(30)) await run(store, 'state::list', { scope });
  const { value } = await run(store, 'state::update', { scope, key: 'n', ops: by });
  return JSON.stringify((value as { new_value: unknown }).new_value);
}

function groupsOf(value: unknown): { groups: string[] } {
  return value as { groups: string[] };
}

function pairIn({ body }: StoreEvent): unknown[] {
  const { type, old_value, new_value } = JSON.parse(Buffer.from(body).toString('utf8'));
  expect(type).toBe('state');
  return [old_value, new_value];
}

/** The result of the vector, in a scope of its own. */
async function outcomeOf(store: Store, scope: string, vector: UpdateVector) {
  const { name, old, ops } = vector;
  if (old !== undefined) await runText(store, 'state::set', JSON.stringify({ scope, key: 'k', value: old }));
  const { text, error, events = [] } = await runText(store, 'state::update', JSON.stringify({ scope, key: 'k', ops }));
  const reply = text === undefined ? undefined : parseExactJson(text);
  const { new_value: after = undefined, errors = [] } = isObject(reply) ? reply : {};
  return {
    name,
    refused: error?.code,
    after: canonicalJson(after),
    errors: JSON.parse(JSON.stringify(errors)).map(({ op_index, code }: Record<string, unknown>) => ({
      op_index,
      code,
    })),
    isChanged: events.length > 0,
  };
}

function expectedOutcome({ name, new: after = null, errors, changed, refused }: UpdateVector) {
  if (refused !== undefined) return { name, refused: refused.code, after: undefined, errors: [], isChanged: false };
  return { name, refused: undefined, after: canonicalJson(after), errors, isChanged: changed };
}
