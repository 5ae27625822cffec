// What the States page computes: trees of keys, files of a scope, update operations, changes, triggers of a write.

import { expect, test } from 'vitest';
import { nestedSource } from '../../../../../../src/console/web/kit/json/logic/json-member.ts';
import {
  CHANGES_KEPT,
  type OpDraft,
  opProblem,
  opsText,
  stateTriggersOf,
  type ValueChange,
  withChange,
} from '../../../../../../src/console/web/pages/states/logic/entry-changes.ts';
import { keyTree } from '../../../../../../src/console/web/pages/states/logic/key-tree.ts';
import {
  eachOf,
  importPlan,
  printStateLine,
  readStateLines,
} from '../../../../../../src/console/web/pages/states/logic/state-lines.ts';

const rows = (...keys: string[]) => keys.map((key) => ({ key }));

test('[STA-2] Keys become a tree by the chosen separator, which shows the last part of each', () => {
  const given = rows('a:b:1', 'a:b:2', 'a:c', 'plain');
  const closed = keyTree(given, ':', new Set());
  expect(closed).toMatchObject([
    { kind: 'folder', path: 'a:', name: 'a', count: 3, open: false },
    { kind: 'key', name: 'plain', depth: 0 },
  ]);
  const names = keyTree(given, ':', new Set(['a:', 'a:b:'])).map(({ name, depth }) => `${depth} ${name}`);
  expect(names).toEqual(['0 a', '1 b', '2 1', '2 2', '1 c', '0 plain']);
  expect(keyTree(rows('x::y:z'), '::', new Set(['x::'])).map(({ name }) => name)).toEqual(['x', 'y:z']);
});

test('[STA-6] A scope written as JSON lines reads back digit by digit', () => {
  const entry = { key: 'a"b', value: '{"big":248480010225057793,"one":1.0}' };
  expect(readStateLines(printStateLine(entry))).toEqual({ entries: [entry], bad: [] });
});

test('[STA-6] Invalid lines are listed, and of two lines with one key the later one counts', () => {
  const { entries, bad } = readStateLines(
    '{"key":"a","value":1}\n\n[1]\n{"key":"","value":1}\n{"key":"b"}\n{"key":"a","value":2}\n{',
  );
  expect(entries).toEqual([{ key: 'a', value: '2' }]);
  expect(bad.map(({ line }) => line)).toEqual([1, 3, 4, 5, 7]);
});

test('[STA-6] A preview separates new, changed and equal entries', () => {
  const entries = [
    { key: 'a', value: '1' },
    { key: 'b', value: '2' },
    { key: 'c', value: '3' },
  ];
  const plan = importPlan(
    entries,
    new Map([
      ['b', '9'],
      ['c', '3'],
    ]),
  );
  expect([plan.new, plan.changed, plan.same].map((kind) => kind.map(({ key }) => key))).toEqual([['a'], ['b'], ['c']]);
});

test('[STA-5] Operations keep the values as they were typed; a merge path may have several parts', () => {
  const op = (type: OpDraft['type'], path: string, value: string): OpDraft => ({ id: 1, type, path, value });
  expect(
    opsText([op('set', 'a', '1.0'), op('merge', 'x.y', '{"k":1}'), op('increment', 'n', ''), op('remove', 'z', '')]),
  ).toBe(
    '[{"type":"set","path":"a","value":1.0},{"type":"merge","path":["x","y"],"value":{"k":1}},' +
      '{"type":"increment","path":"n","by":1},{"type":"remove","path":"z"}]',
  );
  expect(opProblem(op('set', 'a', ''))).toBe('a value is needed');
  expect(opProblem(op('increment', 'a', 'x'))).toBe('a number is needed');
  expect(opProblem(op('append', 'a', '{'))).toContain('line 1');
});

test('[STA-4] The last 50 changes are kept; reading the same value again is not a change', () => {
  let changes: readonly ValueChange[] = [];
  for (let at = 0; at < CHANGES_KEPT + 3; at++) {
    changes = withChange(changes, { atMs: at, before: `${at}`, after: `${at + 1}`, writes: 1 });
  }
  expect(changes).toHaveLength(CHANGES_KEPT);
  expect(withChange(changes, { atMs: 99, before: 'x', after: 'x', writes: 1 })).toBe(changes);
});

test('[STA-7] Triggers without a scope or key fire for every write, inactive ones for none', () => {
  const trigger = (name: string, config: unknown, status = 'Active') => ({ name, config, status });
  const all = [
    trigger('any', {}),
    trigger('scope', { scope: 's' }),
    trigger('key', { scope: 's', key: 'k' }),
    trigger('other', { scope: 't' }),
    trigger('off', { scope: 's' }, 'Inactive'),
  ];
  expect(stateTriggersOf(all, 's', 'k').map(({ name }) => name)).toEqual(['any', 'scope', 'key']);
  expect(stateTriggersOf(all, 's', 'j').map(({ name }) => name)).toEqual(['any', 'scope']);
});

test('[STA-3] The stored value in a refusal is read as it is stored', () => {
  const text = '{"error":{"details":{"current":{"value":1.0}}}}';
  expect(nestedSource(text, ['error', 'details', 'current', 'value'])).toBe('1.0');
  expect(nestedSource(text, ['error', 'nothing', 'current'])).toBeUndefined();
});

test('[STA-6] An operation on many items continues after a failure and reports it', async () => {
  const done: number[] = [];
  const failures = await eachOf(
    [1, 2, 3, 4],
    (item) => (item === 2 ? Promise.reject(new Error('two')) : Promise.resolve()),
    (count) => done.push(count),
  );
  expect(failures).toEqual([new Error('two')]);
  expect(done.at(-1)).toBe(4);
});
