// Test 42 of the guarantees, in its part of state and triggers: dangerous names through every JSON input, over both
// forms of the wire. Engine and SDK run in this process, so whatever one of them did to objects would show here.

import { afterEach, describe, expect, test } from 'vitest';
import { ops, registerWorker, type SvcWorker } from '../../src/sdk/index.ts';
import { allOf } from '../support/all-of.ts';
import { startTestEngine } from '../support/test-engine.ts';
import { waitFor } from '../support/wait-for.ts';

const IN_MEMORY = `drain_timeout_ms: 100
workers:
  - name: svc-worker-manager
    config: {port: 0}
  - name: svc-state
    config: {adapter: {name: kv, config: {store_method: in_memory}}}
`;

const NAMES = ['__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty', '__defineGetter__'];
/** Read from text, so that `__proto__` is a key of its own. */
const VALUE: unknown = JSON.parse(
  '{"__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}},"list":[{"__proto__":{"polluted":1}}]}',
);

const workers: SvcWorker[] = [];

afterEach(async () => {
  await Promise.all(workers.splice(0).map((svc) => svc.shutdown()));
});

describe.each(['binary', 'json'] as const)('[X19] Over the %s form', (wire) => {
  test('[X19] values with dangerous keys come back as they went, and no object has changed', async () => {
    await using engine = await startTestEngine({ yaml: IN_MEMORY });
    const { state } = connect(engine.url, wire);
    const keysBefore = Reflect.ownKeys(Object.prototype);
    await state.set('s', 'k', VALUE);
    expect(JSON.stringify(await state.get('s', 'k'))).toBe(JSON.stringify(VALUE));
    const { new_value: updated } = await state.update<object>('s', 'k', ops.set('a', VALUE), ops.append('list', VALUE));
    expect(JSON.stringify(updated)).toContain(JSON.stringify(VALUE));
    const [entry] = await allOf(state.list('s'));
    expect(JSON.stringify(entry?.value)).toBe(JSON.stringify(updated));
    expect(Reflect.ownKeys(Object.prototype)).toEqual(keysBefore);
    expect(Reflect.get({}, 'polluted')).toBeUndefined();
  });

  test('[X19] dangerous names are names of scopes and keys like any other', async () => {
    await using engine = await startTestEngine({ yaml: IN_MEMORY });
    const { state } = connect(engine.url, wire);
    for (const name of NAMES) {
      expect(await state.get(name, name)).toBeNull();
      await state.set(name, name, { name });
    }
    for (const name of NAMES) expect(await state.get(name, name)).toEqual({ name });
    expect(await allOf(state.scopes())).toEqual(NAMES.toSorted());
  });

  test('[X19] update paths and merged keys refuse what reaches a prototype, and nothing else', async () => {
    await using engine = await startTestEngine({ yaml: IN_MEMORY });
    const { state } = connect(engine.url, wire);
    for (const name of NAMES) {
      const tried = await state.update('s', name, ops.set(name, 1), ops.merge(['a', name], { x: 1 }), ops.remove(name));
      const isRefused = ['__proto__', 'constructor', 'prototype'].includes(name);
      expect(tried.errors.map(({ code }) => code.endsWith('.path.proto_polluted'))).toEqual(
        isRefused ? [true, true, true] : [],
      );
    }
    const merged = await state.update('s', 'k', { type: 'merge', path: '', value: VALUE });
    expect(merged).toMatchObject({ new_value: null, errors: [{ code: 'merge.value.proto_polluted' }] });
    expect(Reflect.get({}, 'x')).toBeUndefined();
  });

  test('[X19] dangerous keys of a trigger pass through its config, its metadata and its event', async () => {
    await using engine = await startTestEngine({ yaml: IN_MEMORY });
    const svc = connect(engine.url, wire);
    const events: { new_value: unknown }[] = [];
    const refused = svc.registerTrigger({ type: 'state', function_id: 'f', config: VALUE });
    await expect(refused.ready()).rejects.toMatchObject({ code: 'trigger_registration_failed' });
    svc.registerFunction('told', (event: { new_value: unknown }, { metadata }) =>
      events.push({ ...event, ...{ metadata } }),
    );
    await svc
      .registerTrigger({ type: 'state', function_id: 'told', config: { scope: '__proto__' }, metadata: VALUE })
      .ready();
    await svc.state.set('__proto__', 'constructor', VALUE);
    await waitFor('the event', () => events.length > 0);
    const text = JSON.stringify(VALUE);
    expect(
      events.map((event) => [JSON.stringify(event.new_value), JSON.stringify(Reflect.get(event, 'metadata'))]),
    ).toEqual([[text, text]]);
  });
});

function connect(url: string, wire: 'binary' | 'json'): SvcWorker {
  const svc = registerWorker(url, { handle_signals: false, drain_timeout_ms: 100, log: () => {}, wire });
  workers.push(svc);
  return svc;
}
