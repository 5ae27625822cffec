import { describe, expect, test } from 'vitest';
import { ChangeJobs } from '../../../../src/modules/change-jobs.ts';
import { GROUP_FIELDS, StateTriggers } from '../../../../src/modules/state/triggers.ts';
import type { Store } from '../../../../src/store/thread/contract.ts';
import type { TestWorker } from '../../../support/clients/test-worker.ts';
import { EngineInMemory } from '../../../support/engine/engine-in-memory.ts';

describe('which changes fire a state trigger', () => {
  test.each([
    ['of everything', {}, true],
    ['of everything, for a config that was left out', null, true],
    ['of its scope', { scope: 'orders' }, true],
    ['of no other scope', { scope: 'order' }, false],
    ['of its key in any scope', { key: 'o1' }, true],
    ['of no other key', { key: 'o2' }, false],
    ['of its entry', { scope: 'orders', key: 'o1' }, true],
    ['not of its key in another scope', { scope: 'users', key: 'o1' }, false],
    ['not of another key in its scope', { scope: 'orders', key: 'o2' }, false],
    ['of its scope, for a key that is null', { scope: 'orders', key: null }, true],
  ])('[modules 2.3] It fires for %s', (_what, config, isFor) => {
    const { worker, change } = engineWithState();
    worker.bind('t', 'state', 'f', { config });
    change('orders', 'o1');
    expect(worker.received('invokefunction')).toHaveLength(isFor ? 1 : 0);
  });

  test('[modules 2.3] Scopes and keys that concatenate to the same text are different', () => {
    const { worker, change } = engineWithState();
    worker.bind('t', 'state', 'f', { config: { scope: 'ab', key: 'c' } });
    change('a', 'bc');
    expect(worker.received()).toEqual([]);
    change('ab', 'c');
    expect(worker.nextCall()).toMatchObject({ function_id: 'f' });
  });

  test('[modules 2.3] The function gets the event unchanged, and its cause', () => {
    const { worker, change } = engineWithState();
    worker.bind('t', 'state', 'f', { config: { scope: 'orders' } });
    change('orders', 'größe', 7);
    expect(worker.nextCall()).toMatchObject({
      data: { type: 'state', event_type: 'state:updated', scope: 'orders', key: 'größe', new_value: 7 },
      trigger: { type: 'state', id: 't' },
    });
  });
});

describe('whether any trigger needs events', () => {
  test('[S5] Events are needed from the first trigger until the last has left', () => {
    const { worker, engine, triggers } = engineWithState();
    const other = engine.connect();
    expect(triggers.isListening).toBe(false);
    worker.bind('a', 'state', 'f', { config: { scope: 's' } });
    other.bind('b', 'state', 'f', { config: { key: 'k' } });
    worker.unbind('a');
    expect(triggers.isListening).toBe(true);
    other.drop();
    expect(triggers.isListening).toBe(false);
  });

  test('[modules 2.1] No events are needed if triggers are disabled', () => {
    const { worker, triggers, change } = engineWithState(false);
    worker.bind('t', 'state', 'f');
    change('s', 'k');
    expect([triggers.isListening, worker.received()]).toEqual([false, []]);
  });

  test('[W2] A removed trigger no longer fires', () => {
    const { worker, change } = engineWithState();
    for (const [id, config] of [
      ['a', {}],
      ['b', { scope: 's' }],
      ['c', { key: 'k' }],
      ['d', { scope: 's', key: 'k' }],
    ] as const) {
      worker.bind(id, 'state', 'f', { config });
      worker.unbind(id);
    }
    change('s', 'k');
    expect(worker.received()).toEqual([]);
  });
});

describe('the order of events', () => {
  test('[S5] Changes of one key arrive in order, even if the condition of the first takes longest', () => {
    const { worker, change } = engineWithState();
    worker.register('cond');
    worker.bind('t', 'state', 'f', { config: { condition_function_id: 'cond' } });
    for (const value of [1, 2, 3]) change('s', 'k', value);
    change('s', 'other', 4);
    const questions = worker.received('invokefunction');
    for (const question of questions.toReversed()) worker.result(question, true);
    const received = worker.received('invokefunction').map(({ data }) => data);
    expect(received).toMatchObject([{ new_value: 4 }, { new_value: 1 }, { new_value: 2 }, { new_value: 3 }]);
  });
});

describe('an invalid config', () => {
  test.each([
    [{ scop: 'orders' }, "Unknown key 'scop'. Did you mean 'scope'?"],
    [{ scope: 5 }, 'found the number 5'],
    [{ key: '' }, 'The config.key of the state trigger'],
    [{ key: 'x'.repeat(257) }, 'The config.key of the state trigger'],
    [[], 'The config of the state trigger: Must be'],
    [{ condition_function_id: 5 }, 'The condition_function_id must be the id of a function'],
  ])('[modules 2.3] %j is refused with the field and the rule', (config, reason) => {
    const { worker, triggers } = engineWithState();
    worker.bind('t', 'state', 'f', { config });
    expect(worker.receivedOne('triggerregistrationresult')).toMatchObject({
      error: { code: 'trigger_registration_failed', message: expect.stringContaining(reason) },
    });
    expect(triggers.isListening).toBe(false);
  });
});

interface WithState {
  readonly engine: EngineInMemory;
  readonly worker: TestWorker;
  readonly triggers: StateTriggers;
  /** The store reports a change. */
  readonly change: (scope: string, key: string, value?: unknown) => void;
}

function engineWithState(isEnabled = true): WithState {
  const engine = new EngineInMemory();
  const triggers = new StateTriggers(engine.port, noJobs(engine), isEnabled, () => {});
  engine.context.triggers.addModuleType(triggers.id, triggers.spec, triggers);
  const worker = engine.connect({ ownSdk: true });
  worker.register('f');
  const change = (scope: string, key: string, value: unknown = null): void => {
    const event = { type: 'state', event_type: 'state:updated', scope, key, old_value: null, new_value: value };
    triggers.changed(
      { path: [scope, key], kind: 'state:updated', seq: 0, body: Buffer.from(JSON.stringify(event)) },
      { depth: 0 },
    );
  };
  return { engine, worker, triggers, change };
}

/** No trigger of these tests names a queue: nothing asks the store. */
function noJobs({ port, clock, context }: EngineInMemory): ChangeJobs {
  const run = (): never => {
    throw new Error('The store was asked');
  };
  const store: Store = { trouble: undefined, details: {}, run, watch: () => () => {} };
  const place = { owner: 'state', store, outbox: 'own' as const, groupFields: GROUP_FIELDS };
  return new ChangeJobs({ ...place, router: port, clock, logger: context.logger });
}
