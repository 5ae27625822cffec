// Fault test 42: dangerous names through every JSON input, over both forms of the wire. Engine and SDK run in this
// process, so a polluted prototype would be visible here.

import { describe, expect, test } from 'vitest';
import { Enqueue, http as httpTrigger, ops } from '../../../src/sdk/index.ts';
import { allOf } from '../../support/all-of.ts';
import { startTestEngine } from '../../support/engine/test-engine.ts';
import { faultLine } from '../../support/load/fault-line.ts';
import { waitFor } from '../../support/wait-for.ts';
import { STATE_IN_MEMORY, sdkWorkers } from '../sdk-workers.ts';

const EVERY_INPUT = `${STATE_IN_MEMORY}  - {name: svc-http, config: {port: 0}}
  - {name: svc-stream, config: {port: 0, host: 127.0.0.1, adapter: {name: kv, config: {store_method: in_memory}}}}
  - {name: svc-pubsub}
  - {name: svc-queue, config: {adapter: {name: builtin, config: {store_method: in_memory}}}}
`;

const NAMES = ['__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty', '__defineGetter__'];
/** Read from text, so that `__proto__` is a key of its own. */
const VALUE: unknown = JSON.parse(
  '{"__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}},"list":[{"__proto__":{"polluted":1}}]}',
);

const connect = sdkWorkers();

describe.each(['binary', 'json'] as const)('[X19] Over the %s form', (wire) => {
  test('[X19] [fault 42] values with dangerous keys are read as they were written, and no prototype changes', async () => {
    const line = faultLine('42', `prototype probes over ${wire}`, 'changed=0');
    await using engine = await startTestEngine({ yaml: STATE_IN_MEMORY });
    const { state } = connect(engine.url, { wire });
    const keysBefore = Reflect.ownKeys(Object.prototype);
    await state.set('s', 'k', VALUE);
    expect(JSON.stringify(await state.get('s', 'k'))).toBe(JSON.stringify(VALUE));
    const { new_value: updated } = await state.update<object>('s', 'k', ops.set('a', VALUE), ops.append('list', VALUE));
    expect(JSON.stringify(updated)).toContain(JSON.stringify(VALUE));
    const [entry] = await allOf(state.list('s'));
    expect(JSON.stringify(entry?.value)).toBe(JSON.stringify(updated));
    const changed = Reflect.ownKeys(Object.prototype).filter((key) => !keysBefore.includes(key));
    line.figure = `changed=${changed.length}`;
    expect(Reflect.ownKeys(Object.prototype)).toEqual(keysBefore);
    expect(Reflect.get({}, 'polluted')).toBeUndefined();
  });

  test('[X19] [fault 42] dangerous keys in bodies, headers, items, events and jobs arrive unchanged', async () => {
    const line = faultLine('42', `prototype probes of every module over ${wire}`, 'changed=0');
    await using engine = await startTestEngine({ yaml: EVERY_INPUT });
    const svc = connect(engine.url, { wire });
    const keysBefore = Reflect.ownKeys(Object.prototype);
    const text = JSON.stringify(VALUE);
    const seen = new Map<string, string>();
    const note = (what: string, value: unknown): void => void seen.set(what, JSON.stringify(value));
    svc.registerFunction('api::echo', ({ body, query_params, headers }: HttpInput) => {
      note('query', [Object.keys(query_params), Object.keys(headers).includes('constructor')]);
      return { body };
    });
    svc.registerFunction('on::topic', (event: unknown) => note('event', event));
    svc.registerFunction('run::job', (job: unknown) => note('job', job));
    await svc.registerTrigger({ ...httpTrigger('POST', '/echo'), function_id: 'api::echo' }).ready();
    await svc.registerTrigger({ type: 'event', function_id: 'on::topic', config: { topic: '__proto__' } }).ready();
    const http = engine.urls.find((url) => url.startsWith('http:')) ?? '';
    const headers = { 'content-type': 'application/json', constructor: 'x' };
    const answer = await fetch(`${http}/echo?__proto__=1&constructor=2`, { method: 'POST', headers, body: text });
    expect(await answer.text()).toBe(text);
    expect(JSON.parse(seen.get('query') ?? '')).toEqual([['__proto__', 'constructor'], true]);
    const group = svc.stream('__proto__').group('constructor');
    await group.set('prototype', VALUE);
    expect(JSON.stringify(await group.get('prototype'))).toBe(text);
    await svc.trigger({ function_id: 'publish', payload: { topic: '__proto__', data: VALUE } });
    await svc.trigger({ function_id: 'run::job', payload: VALUE, action: Enqueue({ queue: 'default' }) });
    await waitFor('event and job have come', () => seen.has('event') && seen.has('job'));
    expect(seen.get('event')).toContain(text);
    expect(seen.get('job')).toBe(text);
    line.figure = `changed=${Reflect.ownKeys(Object.prototype).length - keysBefore.length},inputs=${seen.size + 2}`;
    expect(Reflect.ownKeys(Object.prototype)).toEqual(keysBefore);
    expect(Reflect.get({}, 'polluted')).toBeUndefined();
  });

  test('[X19] [fault 42] scopes and keys may have dangerous names', async () => {
    await using engine = await startTestEngine({ yaml: STATE_IN_MEMORY });
    const { state } = connect(engine.url, { wire });
    for (const name of NAMES) {
      expect(await state.get(name, name)).toBeNull();
      await state.set(name, name, { name });
    }
    for (const name of NAMES) expect(await state.get(name, name)).toEqual({ name });
    expect(await allOf(state.scopes())).toEqual(NAMES.toSorted());
  });

  test('[X19] [fault 42] updates refuse exactly the paths and merged keys that reach a prototype', async () => {
    await using engine = await startTestEngine({ yaml: STATE_IN_MEMORY });
    const { state } = connect(engine.url, { wire });
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

  test('[X19] [fault 42] dangerous keys in the config, metadata and events of a trigger arrive unchanged', async () => {
    await using engine = await startTestEngine({ yaml: STATE_IN_MEMORY });
    const svc = connect(engine.url, { wire });
    const events: { new_value: unknown }[] = [];
    // A program without types can pass any type.
    const type: string = 'state';
    const refused = svc.registerTrigger({ type, function_id: 'f', config: VALUE });
    await expect(refused.ready()).rejects.toMatchObject({ code: 'trigger_registration_failed' });
    svc.registerFunction('note', (event: { new_value: unknown }, { metadata }) =>
      events.push({ ...event, ...{ metadata } }),
    );
    await svc
      .registerTrigger({ type: 'state', function_id: 'note', config: { scope: '__proto__' }, metadata: VALUE })
      .ready();
    await svc.state.set('__proto__', 'constructor', VALUE);
    await waitFor('the event', () => events.length > 0);
    const text = JSON.stringify(VALUE);
    expect(
      events.map((event) => [JSON.stringify(event.new_value), JSON.stringify(Reflect.get(event, 'metadata'))]),
    ).toEqual([[text, text]]);
  });
});

interface HttpInput {
  readonly body: unknown;
  readonly query_params: object;
  readonly headers: object;
}
