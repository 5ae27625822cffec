// `svc.state` against the real engine, over both forms of the wire.

import { describe, expect, test } from 'vitest';
import { ops, type StateEvent, type SvcWorker } from '../../../src/sdk/index.ts';
import { allOf } from '../../support/all-of.ts';
import { startTestEngine, type TestEngine } from '../../support/engine/test-engine.ts';
import { waitFor } from '../../support/wait-for.ts';
import { STATE_IN_MEMORY, sdkWorkers } from '../sdk-workers.ts';

const connect = sdkWorkers();

describe.each(['binary', 'json'] as const)('svc.state over the %s form', (wire) => {
  async function setUp(): Promise<{ engine: TestEngine; svc: SvcWorker }> {
    const engine = await startTestEngine({ yaml: STATE_IN_MEMORY });
    return { engine, svc: connect(engine.url, { wire }) };
  }

  test('[SDK-5] An entry is written, read and deleted, and each write returns the previous value', async () => {
    const { engine, svc } = await setUp();
    await using _ = engine;
    const { state } = svc;
    expect(await state.get('users', 'ann')).toBeNull();
    expect(await state.set('users', 'ann', { n: 1 })).toEqual({ old_value: null, new_value: { n: 1 } });
    expect(await state.get('users', 'ann')).toEqual({ n: 1 });
    const update = await state.update('users', 'ann', ops.increment('n'), ops.merge(['home', 'at'], { city: 'Köln' }));
    const after = { n: 2, home: { at: { city: 'Köln' } } };
    expect(update).toEqual({ old_value: { n: 1 }, new_value: after, errors: [] });
    expect(await state.delete('users', 'ann')).toEqual(after);
    expect(await state.delete('users', 'ann')).toBeNull();
  });

  test('[SDK-5] A write with a condition happens if it holds, and otherwise changes nothing', async () => {
    const { engine, svc } = await setUp();
    await using _ = engine;
    const { state } = svc;
    const conflict = { code: 'CONFLICT' };
    expect(await state.getWithVersion('s', 'k')).toEqual({ value: null, version: null });
    await state.set('s', 'k', 1, { if_absent: true });
    await expect(state.set('s', 'k', 2, { if_absent: true })).rejects.toMatchObject(conflict);
    await expect(state.set('s', 'k', 2, { if_version: null })).rejects.toMatchObject(conflict);
    const { value, version } = await state.getWithVersion<number>('s', 'k');
    expect([value, version]).toEqual([1, expect.any(String)]);
    expect(await state.set('s', 'k', 2, { if_version: version })).toEqual({ old_value: 1, new_value: 2 });
    await expect(state.set('s', 'k', 3, { if_version: version })).rejects.toMatchObject(conflict);
    await expect(state.delete('s', 'k', { if_version: version })).rejects.toMatchObject(conflict);
    await expect(state.delete('s', 'k', { if_version: null })).rejects.toMatchObject(conflict);
    expect(await state.get('s', 'k')).toBe(2);
    const now = await state.getWithVersion<number>('s', 'k');
    expect(await state.delete('s', 'k', { if_version: now.version })).toBe(2);
    // The entry is missing again, as it was when it was first read.
    await state.set('s', 'k', 4, { if_version: (await state.getWithVersion('s', 'k')).version });
    expect(await state.get('s', 'k')).toBe(4);
  });

  test('[SDK-5] Skipped operations are reported, with the page that explains them', async () => {
    const { engine, svc } = await setUp();
    await using _ = engine;
    await svc.state.set('s', 'k', { name: 'Ann' });
    const skipped = [ops.decrement('name'), ops.append('name', 5)];
    const { new_value, errors } = await svc.state.update('s', 'k', ...skipped, ops.set('a', 1), ops.remove('name'));
    expect(new_value).toEqual({ a: 1 });
    expect(errors).toMatchObject([
      { op_index: 0, code: 'decrement.not_number', doc_url: 'docs/errors.md#decrement.not_number' },
      { op_index: 1, code: 'append.type_mismatch' },
    ]);
  });

  test('[SDK-5] A list arrives page by page, in the order of the keys', async () => {
    const { engine, svc } = await setUp();
    await using _ = engine;
    const keys = Array.from({ length: 25 }, (_, index) => `k${String(index).padStart(2, '0')}`);
    await Promise.all(keys.toReversed().map((key) => svc.state.set('s', key, key.length)));
    const entries = await allOf(svc.state.list<number>('s', { page_size: 10 }));
    expect(entries).toEqual(keys.map((key) => ({ key, value: 3 })));
    expect(await allOf(svc.state.list('nothing'))).toEqual([]);
  });

  test('[SDK-5] A prefix narrows the list, on every page', async () => {
    const { engine, svc } = await setUp();
    await using _ = engine;
    const keys = ['a', 'b', 'b1', 'b2', 'b\u{10ffff}', 'ba', 'bä', 'c'];
    await Promise.all(keys.map((key) => svc.state.set('s', key, 1)));
    const found = await allOf(svc.state.list('s', { prefix: 'b', page_size: 2 }));
    expect(found.map(({ key }) => key)).toEqual(['b', 'b1', 'b2', 'ba', 'bä', 'b\u{10ffff}']);
  });

  test('[SDK-5] A client that deletes while it lists misses nothing', async () => {
    const { engine, svc } = await setUp();
    await using _ = engine;
    await Promise.all(Array.from({ length: 30 }, (_, index) => svc.state.set('s', `k${index}`, index)));
    const deleted: unknown[] = [];
    for await (const { key } of svc.state.list('s', { page_size: 7 })) deleted.push(await svc.state.delete('s', key));
    expect(deleted).toHaveLength(30);
    expect(await allOf(svc.state.list('s'))).toEqual([]);
  });

  test('[SDK-5] Values too large for one page arrive in smaller pages', async () => {
    const { engine, svc } = await setUp();
    await using _ = engine;
    const value = 'x'.repeat(1024 * 1024);
    for (let index = 0; index < 9; index++) await svc.state.set('s', `k${index}`, value);
    const entries = await allOf(svc.state.list<string>('s'));
    expect(entries.map((entry) => entry.value.length)).toEqual(Array.from({ length: 9 }, () => value.length));
  });

  test('[SDK-5] Scopes are listed page by page', async () => {
    const { engine, svc } = await setUp();
    await using _ = engine;
    const scopes = ['a', 'b', 'b::c', 'd'];
    await Promise.all(scopes.flatMap((scope) => ['x', 'y'].map((key) => svc.state.set(scope, key, 1))));
    expect(await allOf(svc.state.scopes({ page_size: 3 }))).toEqual(scopes);
  });

  test('[SDK-5] A watch gets the changes it asked for, until it is stopped', async () => {
    const { engine, svc } = await setUp();
    await using _ = engine;
    const events: StateEvent<number>[] = [];
    const watch = svc.state.watch<number>({ scope: 's', key: 'k' }, (event) => events.push(event));
    await watch.ready();
    await svc.state.set('s', 'other', 0);
    await svc.state.set('s', 'k', 1);
    await svc.state.delete('s', 'k');
    await waitFor('both changes are reported', () => events.length === 2);
    watch.stop();
    await svc.state.set('s', 'k', 3);
    expect(events).toMatchObject([
      { event_type: 'state:updated', old_value: null, new_value: 1 },
      { event_type: 'state:deleted', old_value: 1, new_value: null },
    ]);
    const { registered_triggers } = await svc.trigger({ function_id: 'engine::registered-triggers::list' });
    expect(registered_triggers).toEqual([]);
  });

  test('[SDK-5] Two workers with the same watch both get the changes', async () => {
    const { engine, svc } = await setUp();
    await using _ = engine;
    const other = connect(engine.url, { wire });
    const changes: string[] = [];
    const watches = [svc, other].map((worker, index) => worker.state.watch({}, () => changes.push(`worker ${index}`)));
    await Promise.all(watches.map((watch) => watch.ready()));
    await svc.state.set('s', 'k', 1);
    await waitFor('both got the change', () => changes.length === 2);
    expect(changes.sort()).toEqual(['worker 0', 'worker 1']);
  });

  test('[SDK-5] A watch that the engine refuses gives the reason', async () => {
    const { engine, svc } = await setUp();
    await using _ = engine;
    const watch = svc.state.watch({ key: '' }, () => {});
    await expect(watch.ready()).rejects.toMatchObject({
      code: 'trigger_registration_failed',
      message: expect.stringContaining('config.key'),
    });
  });
});

test('[SDK-5] An undefined value is refused in the call that passes it', () => {
  expect(() => ops.set('a', undefined)).toThrow(/ops\.set: the value is undefined/);
  expect(() => ops.append('a', undefined)).toThrow(/ops\.append: the value is undefined/);
});
