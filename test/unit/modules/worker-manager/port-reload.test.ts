// The configuration of a port for browsers changes while connections of it are open (X12).

import { describe, expect, test } from 'vitest';
import type { Admission } from '../../../../src/transport/socket.ts';
import { addTriggerType } from '../../../support/engine/module-trigger-type.ts';
import { openRestricted, type RestrictedPort } from '../../../support/engine/restricted-port.ts';
import { TestPort } from '../../../support/engine/worker-port.ts';

type Config = Readonly<Record<string, unknown>>;

const AUTH = { auth_function_id: 'auth' };
const API = { ...AUTH, expose_functions: ['match("api::*")'] };
const COME_AGAIN = { code: 4402, reason: 'the rules of this port have changed; connect again' };

describe('[X12] a changed policy of a port for browsers', () => {
  test('applies to the next call of an open connection', async () => {
    const opened = await openRestricted({ rbac: API });
    const { backend, browser } = opened;
    for (const id of ['api::x', 'other::x']) backend.register(id);
    const page = await browser();
    const reach = (id: string): boolean => {
      const call = page.invoke(id);
      const arrived = backend.received('invokefunction');
      for (const one of arrived) backend.result(one, 'done');
      if (arrived.length === 0) expect(page.errorCodeOf(call)).toBe('FORBIDDEN');
      return arrived.length > 0;
    };
    expect(['api::x', 'other::x'].map(reach)).toEqual([true, false]);
    expect(await adopt(opened, { rbac: { ...AUTH, expose_functions: ['match("other::*")'] } })).toEqual([
      'rbac.expose_functions',
    ]);
    expect(['api::x', 'other::x'].map(reach)).toEqual([false, true]);
    expect(page.socket.farewell).toBeUndefined();
  });

  test('uses metadata from then on, and of later registrations too', async () => {
    const opened = await openRestricted({ rbac: API });
    const { backend, browser } = opened;
    backend.register('x');
    const page = await browser();
    expect(page.errorCodeOf(page.invoke('x'))).toBe('FORBIDDEN');
    await adopt(opened, { rbac: { ...AUTH, expose_functions: [{ metadata: { public: true } }] } });
    expect(page.errorCodeOf(page.invoke('x'))).toBe('FORBIDDEN');
    backend.register('x', { metadata: { public: true } });
    page.invoke('x');
    expect(backend.nextCall()).toMatchObject({ function_id: 'x' });
  });

  test('replaces hooks and middleware', async () => {
    const opened = await openRestricted({ rbac: API });
    const { backend, browser } = opened;
    for (const id of ['api::x', 'hook', 'mw']) backend.register(id);
    const page = await browser();
    page.register('ui::before');
    expect(backend.received()).toEqual([]);
    await adopt(opened, {
      middleware_function_id: 'mw',
      rbac: { ...API, on_function_registration_function_id: 'hook' },
    });
    page.register('ui::after');
    expect(backend.nextCall()).toMatchObject({ function_id: 'hook', data: { function_id: 'ui::after' } });
    page.invoke('api::x');
    expect(backend.nextCall()).toMatchObject({ function_id: 'mw', data: { function_id: 'api::x' } });
  });

  test('closes only connections with a trigger that it would refuse', async () => {
    const rbac = { ...API, expose_functions: ['match("api::*")', 'match("old::*")'], allow_trigger_types: ['t', 'u'] };
    const opened = await openRestricted({ rbac });
    const { engine, backend, browser } = opened;
    for (const type of ['t', 'u']) addTriggerType(engine, type);
    for (const id of ['api::x', 'old::x']) backend.register(id);
    const [stays, byType, byTarget, byCondition] = [await browser(), await browser(), await browser(), await browser()];
    stays.bind('1', 't', 'api::x');
    byType.bind('2', 'u', 'api::x');
    byTarget.bind('3', 't', 'old::x');
    byCondition.bind('4', 't', 'api::x', { config: { condition_function_id: 'old::x' } });
    const bound = (): string[] => [...engine.context.triggers.bindings()].map(({ id }) => id).sort();
    expect(bound()).toEqual(['1', '2', '3', '4']);
    await adopt(opened, { rbac: { ...API, allow_trigger_types: ['t'] } });
    engine.flush();
    for (const page of [byType, byTarget, byCondition]) expect(page.socket.farewell).toEqual(COME_AGAIN);
    expect(stays.socket.farewell).toBeUndefined();
    expect(bound()).toEqual(['1']);
  });

  test('closes pages whose origin is no longer allowed: workers, telemetry and ends of channels', async () => {
    const from = (origin: string) => ({ headers: { origin } });
    const config = { allowed_origins: ['https://a.example', 'https://b.example'] };
    const opened = await openRestricted({ rbac: API, config });
    const { engine, browser, port } = opened;
    const [a, b, tool] = [
      await browser({ context: {} }, from('https://a.example')),
      await browser({ context: {} }, from('https://b.example')),
      await browser(),
    ];
    const { writer, reader } = engine.context.channels.create(1);
    const end = (direction: string, key: string, origin: string) =>
      port.dial(`/ws/channels/${writer.channel_id}`, { ...from(origin), query: `key=${key}&dir=${direction}` });
    const [writing, reading] = [
      end('write', writer.access_key, 'https://b.example'),
      end('read', reader.access_key, 'https://a.example'),
    ];
    await adopt(opened, { rbac: API, allowed_origins: ['https://a.example'] });
    engine.flush();
    expect(b.socket.farewell).toEqual(COME_AGAIN);
    expect(writing.socket.farewell).toEqual(COME_AGAIN);
    expect([a, tool].map(({ socket }) => socket.farewell)).toEqual([undefined, undefined]);
    expect(reading.socket.farewell).not.toEqual(COME_AGAIN);
    expect(port.ask('/ws/channels/x', from('https://b.example'))).toMatchObject({ status: 403 });
  });

  test('closes every connection if the auth function changes, and refuses those that wait for the old one', async () => {
    const opened = await openRestricted({ rbac: API });
    const { engine, backend, browser, port } = opened;
    backend.register('gate');
    const page = await browser();
    const waiting = port.verdict('/');
    await adopt(opened, { rbac: { ...API, auth_function_id: 'gate' } });
    engine.flush();
    expect(page.socket.farewell).toEqual(COME_AGAIN);
    opened.answerAuth({ context: {} });
    expect(await waiting).toMatchObject({ ok: false, status: 503 });
    const next: Promise<Admission> = port.verdict('/');
    backend.result(backend.nextCall(), { context: {} });
    expect(await next).toMatchObject({ ok: true });
  });

  test('frees the places of the connections that it refused or closed', async () => {
    const opened = await openRestricted({ rbac: API, browser: { connectionsMax: 1 } });
    const { engine, backend, browser, port } = opened;
    backend.register('gate');
    await browser();
    expect(port.ask('/')).toMatchObject({ status: 503 });
    await adopt(opened, { rbac: { ...API, auth_function_id: 'gate' } });
    engine.flush();
    expect('verdict' in port.knock('/')).toBe(true);
  });
});

describe('[K1] settings that cannot change while a port is open are reported', () => {
  test.each<[string, Config, Config, string]>([
    ['its port and its address', { rbac: API }, { rbac: API, port: 1, host: '0.0.0.0' }, 'host, port'],
    ['that all connections are trusted', {}, { rbac: API }, 'rbac'],
    ['that its connections are restricted', { rbac: API }, {}, 'rbac'],
    ['the middleware of a trusted port', {}, { middleware_function_id: 'mw' }, 'middleware_function_id'],
    ['the pages of a trusted port', {}, { allowed_origins: [] }, 'allowed_origins'],
  ])('%s', async (_what, before, after, named) => {
    const port = await TestPort.open({ config: before });
    expect(await port.reconfigure(after)).toEqual({
      ok: false,
      reason: `${named} can only change with a new start of the engine`,
    });
  });
});

/** Applies another configuration to the port; returns its answer. */
async function adopt({ port }: RestrictedPort, config: Config): Promise<readonly string[] | undefined> {
  const answer = await port.reconfigure(config);
  if (!answer.ok) throw new Error(answer.reason);
  answer.commit();
  return answer.changes;
}
