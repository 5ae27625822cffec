import { describe, expect, test } from 'vitest';
import type { Balance, Executor } from '../../../../src/core/calls/select-worker.ts';
import { balanceBy, FunctionTable, namespaceOf } from '../../../../src/core/registry/function-table.ts';
import { rawJson } from '../../../../src/protocol/json/byte-string.ts';
import { newExecutor } from '../../../support/engine/numbered-executor.ts';
import { forEachSeed } from '../../../support/random/seeded-random.ts';

describe('registrations', () => {
  test('[I6] A function exists exactly as long as a worker or module offers it', () => {
    const table = newTable();
    const [first, second] = [newExecutor(1), newExecutor(2)];
    expect(table.register('f', first, spec())).toEqual({ ok: true, isNew: true });
    expect(table.register('f', second, spec())).toEqual({ ok: true, isNew: false });
    expect(table.unregister('f', first)).toBe(false);
    expect(table.get('f')).toMatchObject({ executors: [second] });
    expect(table.unregister('f', second)).toBe(true);
    expect(table.get('f')).toBeUndefined();
    expect([...table.all()]).toEqual([]);
  });

  test('[W3] One worker cannot remove the registration of another', () => {
    const table = newTable();
    const [owner, stranger] = [newExecutor(1), newExecutor(1)];
    table.register('f', owner, spec());
    expect(table.unregister('f', stranger)).toBe(false);
    expect(table.unregister('g', stranger)).toBe(false);
    expect(table.get('f')).toMatchObject({ executors: [owner] });
  });

  test('[wire 3.1] Registering again replaces the earlier registration, and makes it the newest', () => {
    const table = newTable();
    const [first, second] = [newExecutor(1), newExecutor(2)];
    table.register('f', first, spec('old'));
    table.register('f', second, spec('middle'));
    expect(table.register('f', first, spec('new'))).toEqual({ ok: true, isNew: false });
    expect(table.get('f')).toMatchObject({
      executors: [second, first],
      specs: [{ description: 'middle' }, { description: 'new' }],
    });
  });

  test('[wire 3.1] A function of a module can be neither taken over nor removed', () => {
    const table = newTable();
    table.addBuiltin({ kind: 'builtin', id: 'engine::x', module: 'the-module', spec: spec(), handler: 'handler' });
    expect(table.register('engine::x', newExecutor(1), spec())).toEqual({
      ok: false,
      reason: "'engine::x' is provided by the module the-module",
    });
    expect(table.unregister('engine::x', newExecutor(1))).toBe(false);
    expect(table.get('engine::x')?.kind).toBe('builtin');
  });

  test('[X19] Ids that every object has are ordinary ids', () => {
    const table = newTable();
    const executor = newExecutor(1);
    for (const id of ['__proto__', 'constructor', 'toString', 'hasOwnProperty']) {
      expect(table.get(id)).toBeUndefined();
      expect(table.register(id, executor, spec())).toEqual({ ok: true, isNew: true });
      expect(table.get(id)).toMatchObject({ id, executors: [executor] });
      expect(table.unregister(id, executor)).toBe(true);
    }
  });
});

describe('balancing', () => {
  test('[I6] `reject_duplicates` refuses a second worker, and lets the first register again', () => {
    const table = newTable('reject_duplicates');
    const owner = newExecutor(1);
    table.register('f', owner, spec('old'));
    expect(table.register('f', newExecutor(2), spec())).toEqual({
      ok: false,
      reason: "'f' is already registered by another worker, and balance is reject_duplicates",
    });
    expect(table.register('f', owner, spec('new'))).toEqual({ ok: true, isNew: false });
    expect(table.get('f')).toMatchObject({ executors: [owner], specs: [{ description: 'new' }] });
  });

  test('[I6] It is set for all functions, or for a namespace', () => {
    expect(balanceBy('newest')('math::add')).toBe('newest');
    const balance = balanceBy({ math: 'newest', default: 'reject_duplicates' });
    expect(['math::add', 'math', 'maths::add', 'other'].map(balance)).toEqual([
      'newest',
      'newest',
      'reject_duplicates',
      'reject_duplicates',
    ]);
    expect(balanceBy({ math: 'newest' })('other')).toBe('least_in_flight');
  });

  test('[X19] A namespace such as `constructor` has no setting of its own', () => {
    expect(balanceBy({ math: 'newest' })('constructor::x')).toBe('least_in_flight');
    expect(balanceBy({ math: 'newest' })('__proto__::x')).toBe('least_in_flight');
  });

  test('[wire 3.1] The namespace of an id ends at its first double colon', () => {
    expect(['a::b::c', 'a:b', 'a', '::a', ''].map(namespaceOf)).toEqual(['a', 'a:b', 'a', '', '']);
  });
});

describe('workers in random order', () => {
  test('[W3] Every function has exactly the connected workers that registered it last', () => {
    forEachSeed(40, (random) => {
      const table = newTable();
      const held = new Map<string, Set<Executor>>();
      const executors = Array.from({ length: 4 }, (_, number) => newExecutor(number));
      for (let step = 0; step < 200; step++) {
        const id = random.pick(['f', 'g', 'h']);
        const executor = random.pick(executors);
        const holders = held.get(id) ?? new Set<Executor>();
        held.set(id, holders);
        if (random.chance(50)) {
          expect(table.register(id, executor, spec(`${step}`))).toEqual({ ok: true, isNew: holders.size === 0 });
          holders.delete(executor);
          holders.add(executor);
        } else {
          expect(table.unregister(id, executor)).toBe(holders.delete(executor) && holders.size === 0);
        }
        const entry = table.get(id);
        expect(entry?.kind === 'worker' ? entry.executors : []).toEqual([...holders]);
        expect(entry?.kind === 'worker' ? entry.specs.length : 0).toBe(holders.size);
        const chosen = entry?.kind === 'worker' ? table.select(entry) : undefined;
        expect(chosen === undefined ? holders.size === 0 : holders.has(chosen)).toBe(true);
      }
    });
  });
});

function newTable(balance: Balance = 'least_in_flight'): FunctionTable<Executor, string> {
  return new FunctionTable<Executor, string>(balanceBy(balance));
}

function spec(description?: string) {
  return { description, requestFormat: rawJson({}), responseFormat: undefined, metadata: undefined };
}
