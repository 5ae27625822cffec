import { describe, expect, test } from 'vitest';
import { type NewBinding, type TriggerBinding, TriggerTable } from '../../../../src/core/registry/trigger-table.ts';
import { rawJson } from '../../../../src/protocol/json/byte-string.ts';
import { type NumberedExecutor, newExecutor } from '../../../support/engine/numbered-executor.ts';
import { forEachSeed, type SeededRandom } from '../../../support/random/seeded-random.ts';

const FACTS = { description: 'Test', configFormat: undefined, payloadFormat: undefined };

describe('bindings', () => {
  test('[W3] A binding with the same id replaces the old one, even that of another owner', () => {
    const table = newTable();
    const [old, successor] = [newExecutor(1), newExecutor(2)];
    const first = table.add(binding('t1', { owner: old })).added;
    const { added, replaced } = table.add(binding('t1', { owner: successor, type: 'other' }));
    expect(replaced).toBe(first);
    expect([...table.bindings()]).toEqual([added]);
    expect([...table.bindingsOf('hook')]).toEqual([]);
    expect([...table.bindingsOf('other')]).toEqual([added]);
  });

  test('[W3] Removing a replaced binding does not remove the new one', () => {
    const table = newTable();
    const old = table.add(binding('t1', { owner: newExecutor(1) })).added;
    const added = table.add(binding('t1', { owner: newExecutor(2) })).added;
    table.remove(old);
    expect(table.binding('t1')).toBe(added);
    expect([...table.bindingsOf('hook')]).toEqual([added]);
  });

  test('[W2] A connection that leaves takes its own bindings, and no durable ones', () => {
    const table = newTable();
    const [leaver, other] = [newExecutor(1), newExecutor(2)];
    const mine = table.add(binding('mine', { owner: leaver })).added;
    const theirs = table.add(binding('theirs', { owner: other })).added;
    const durable = table.add(binding('durable', { owner: undefined })).added;
    expect(table.withdraw(leaver)).toEqual([mine]);
    expect([...table.bindings()]).toEqual([theirs, durable]);
  });

  test('[X19] Ids and types that every object has are ordinary', () => {
    const table = newTable();
    expect(table.type('constructor')).toBeUndefined();
    expect(table.binding('__proto__')).toBeUndefined();
    expect([...table.bindingsOf('toString')]).toEqual([]);
    const added = table.add(binding('__proto__', { type: 'constructor' })).added;
    expect(table.registerType('constructor', newExecutor(1), FACTS)).toBe(true);
    expect([...table.bindingsOf('constructor')]).toEqual([added]);
  });
});

describe('types', () => {
  test('[wire 4.2] The newest provider counts, and the old one can no longer remove the type', () => {
    const table = newTable();
    const [old, newest] = [newExecutor(1), newExecutor(2)];
    table.registerType('hook', old, FACTS);
    const bound = table.add(binding('t1')).added;
    table.registerType('hook', newest, FACTS);
    bound.state = 'bound';
    expect(table.isProvider('hook', old)).toBe(false);
    table.unregisterType('hook', old);
    expect(table.withdraw(old)).toEqual([]);
    expect([table.isProvider('hook', newest), bound.state]).toEqual([true, 'bound']);
  });

  test('[wire 4.5] When the provider leaves, triggers wait, and refusals are forgotten', () => {
    const table = newTable();
    const provider = newExecutor(1);
    table.registerType('hook', provider, FACTS);
    const bound = table.add(binding('t1')).added;
    const refused = table.add(binding('t2')).added;
    const elsewhere = table.add(binding('t3', { type: 'other' })).added;
    bound.state = 'bound';
    elsewhere.state = 'bound';
    Object.assign(refused, { state: 'refused', error: 'not like this' });
    expect(table.withdraw(provider)).toEqual([]);
    expect([bound.state, refused.state, elsewhere.state]).toEqual(['parked', 'parked', 'bound']);
    expect(refused.error).toBeUndefined();
    expect(table.type('hook')).toBeUndefined();
  });

  test('[wire 4.2] A worker can neither replace nor remove the type of a module', () => {
    const table = newTable();
    const worker = newExecutor(1);
    table.addModuleType('engine::x', FACTS, 'module');
    expect(table.registerType('engine::x', worker, FACTS)).toBe(false);
    table.unregisterType('engine::x', worker);
    table.withdraw(worker);
    expect(table.type('engine::x')?.provider).toEqual({ kind: 'module', module: 'module' });
    expect(() => table.addModuleType('engine::x', FACTS, 'module')).toThrow('Two modules provide');
  });
});

describe('bindings and types in random order', () => {
  test('[W3] Only the owner removes a binding, and only the provider a type', () => {
    forEachSeed(20, (random) => new Model(random).run(150));
  });
});

/** Compares the table with plain maps. */
class Model {
  readonly #random: SeededRandom;
  readonly #table = newTable();
  readonly #executors = Array.from({ length: 4 }, (_, number) => newExecutor(number));
  readonly #owners = new Map<string, NumberedExecutor | undefined>();
  readonly #typeOf = new Map<string, string>();
  readonly #providers = new Map<string, NumberedExecutor>();

  constructor(random: SeededRandom) {
    this.#random = random;
  }

  run(steps: number): void {
    for (let step = 0; step < steps; step++) {
      const executor = this.#random.pick(this.#executors);
      const type = this.#random.pick(['hook', 'timer']);
      const dice = this.#random.below(10);
      if (dice < 4) this.#bind(executor, type);
      else if (dice < 6) this.#provide(executor, type);
      else if (dice < 7) this.#stopProviding(executor, type);
      else if (dice < 9) this.#unbind();
      else this.#leave(executor);
      this.#check();
    }
  }

  #bind(executor: NumberedExecutor, type: string): void {
    const id = `t${this.#random.below(6)}`;
    const owner = this.#random.chance(20) ? undefined : executor;
    this.#table.add(binding(id, { owner, type })).added.state = this.#providers.has(type) ? 'bound' : 'parked';
    this.#owners.set(id, owner);
    this.#typeOf.set(id, type);
  }

  #provide(executor: NumberedExecutor, type: string): void {
    this.#table.registerType(type, executor, FACTS);
    this.#providers.set(type, executor);
    for (const bound of this.#table.bindingsOf(type)) bound.state = 'bound';
  }

  #stopProviding(executor: NumberedExecutor, type: string): void {
    this.#table.unregisterType(type, executor);
    if (this.#providers.get(type) === executor) this.#providers.delete(type);
  }

  #unbind(): void {
    const [first] = this.#table.bindings();
    if (first === undefined) return;
    this.#table.remove(first);
    this.#owners.delete(first.id);
    this.#typeOf.delete(first.id);
  }

  #leave(executor: NumberedExecutor): void {
    const removed = this.#table.withdraw(executor);
    const own = [...this.#owners].filter(([, owner]) => owner === executor).map(([id]) => id);
    expect(removed.map(({ id }) => id).sort()).toEqual(own.sort());
    for (const id of own) {
      this.#owners.delete(id);
      this.#typeOf.delete(id);
    }
    for (const [type, provider] of this.#providers) if (provider === executor) this.#providers.delete(type);
  }

  #check(): void {
    const all = [...this.#table.bindings()];
    const facts = all.map(({ id, owner, type }) => `${id} ${owner?.number} ${type}`).sort();
    const expected = [...this.#owners].map(([id, owner]) => `${id} ${owner?.number} ${this.#typeOf.get(id)}`);
    expect(facts).toEqual(expected.sort());
    for (const type of ['hook', 'timer']) {
      const ofType = all.filter((one) => one.type === type);
      expect(new Set(this.#table.bindingsOf(type))).toEqual(new Set(ofType));
      const state = this.#providers.has(type) ? 'bound' : 'parked';
      expect(ofType.filter((one) => one.state !== state)).toEqual([]);
      const providers = this.#executors.filter((one) => this.#table.isProvider(type, one));
      expect(providers).toEqual([this.#providers.get(type)].filter((one) => one !== undefined));
    }
  }
}

function newTable(): TriggerTable<NumberedExecutor, string> {
  return new TriggerTable<NumberedExecutor, string>();
}

function binding(id: string, fields: Partial<NewBinding<NumberedExecutor>> = {}): NewBinding<NumberedExecutor> {
  const config: TriggerBinding<NumberedExecutor>['config'] = rawJson({});
  return { id, type: 'hook', functionId: 'f', config, metadata: undefined, owner: newExecutor(9), ...fields };
}
