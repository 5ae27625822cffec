import { describe, expect, test } from 'vitest';
import type { TestWorker } from '../../../support/clients/test-worker.ts';
import type { EngineInMemory } from '../../../support/engine/engine-in-memory.ts';
import { openRestricted } from '../../../support/engine/restricted-port.ts';

const RULES = { rbac: { expose_functions: ['match("api::*")'], allow_trigger_types: ['t'] } };

async function openWithHolder(grant = {}) {
  const world = await openRestricted(RULES);
  world.backend.provideType('t');
  const page = (): Promise<TestWorker> => world.browser({ context: {}, ...grant });
  const old = await page();
  old.bind('b', 't', 'api::old');
  const successor = await page();
  world.backend.received();
  const { triggers, triggerClaims } = world.engine.context;
  return { ...world, page, old, successor, claims: triggerClaims, target: () => triggers.binding('b')?.functionId };
}

describe('a trigger id of another restricted connection', () => {
  test('is granted in the same step in which the other connection leaves', async () => {
    const { engine, backend, old, successor, target } = await openWithHolder();
    successor.bind('b', 't', 'api::new');
    expect([target(), successor.received()]).toEqual(['api::old', []]);
    const seen: unknown[] = [];
    const { announce } = engine.context;
    const announceWorker = announce.workerEvent.bind(announce);
    Object.assign(announce, {
      workerEvent: (...args: Parameters<typeof announceWorker>) => {
        seen.push(target());
        announceWorker(...args);
      },
    });
    old.drop();
    expect(seen).toEqual(['api::new']);
    expect(backend.received().map(({ type, function_id }) => [type, function_id])).toEqual([
      ['unregistertrigger', 'api::old'],
      ['registertrigger', 'api::new'],
    ]);
  });

  test('is granted when the old connection is closed as silent', async () => {
    const { engine, backend, auth, successor, target } = await openWithHolder();
    successor.bind('b', 't', 'api::new');
    live(engine, 26, [backend, auth, successor]);
    expect([target(), successor.received('triggerregistrationresult')]).toEqual(['api::new', []]);
  });

  test('is granted even if the engine was suspended for longer than the wait', async () => {
    const { engine, backend, auth, successor, target } = await openWithHolder();
    successor.bind('b', 't', 'api::new');
    engine.clock.stall(31_000);
    live(engine, 27, [backend, auth, successor]);
    expect([target(), successor.received('triggerregistrationresult')]).toEqual(['api::new', []]);
  });

  test('is refused after 30 s if the other connection stays', async () => {
    const { engine, backend, auth, old, successor, claims, target } = await openWithHolder();
    successor.bind('b', 't', 'api::new');
    live(engine, 31, [backend, auth, old, successor]);
    const message = 'The trigger id belongs to another connection, which is still there after 30 s; choose another id';
    expect(successor.receivedOne('triggerregistrationresult')).toMatchObject({
      id: 'b',
      trigger_type: 't',
      function_id: 'api::new',
      error: { code: 'FORBIDDEN', message },
    });
    old.drop();
    expect([target(), claims.countOf(engine.context.sessions.get(successor.workerId) ?? raise())]).toEqual([
      undefined,
      0,
    ]);
  });

  test('passes to the oldest claim when its owner withdraws it', async () => {
    const { page, old, successor, target } = await openWithHolder();
    const third = await page();
    successor.bind('b', 't', 'api::new');
    third.bind('b', 't', 'api::third');
    old.unbind('b');
    expect(target()).toBe('api::new');
    successor.drop();
    expect(target()).toBe('api::third');
  });

  test('is not granted to a connection that has withdrawn its claim or left', async () => {
    const { page, old, successor, target } = await openWithHolder();
    const gone = await page();
    successor.bind('b', 't', 'api::new');
    successor.unbind('b');
    gone.bind('b', 't', 'api::gone');
    gone.drop();
    const last = await page();
    last.bind('b', 't', 'api::one');
    last.bind('b', 't', 'api::two');
    old.drop();
    expect(target()).toBe('api::two');
  });

  test('passes to a connection with the same prefix at once, but not without a prefix', async () => {
    const same = await openWithHolder({ function_registration_prefix: 'api' });
    same.successor.bind('b', 't', 'new');
    expect(same.target()).toBe('api::new');
    const none = await openWithHolder({ function_registration_prefix: null });
    none.successor.bind('b', 't', 'api::new');
    expect(none.target()).toBe('api::old');
  });

  test('passes to a trusted worker at once, and then to no restricted connection', async () => {
    const { backend, old, successor, target } = await openWithHolder();
    successor.bind('b', 't', 'api::new');
    backend.bind('b', 't', 'api::trusted');
    old.drop();
    expect(target()).toBe('api::trusted');
    successor.bind('b', 't', 'api::new');
    expect(successor.receivedOne('triggerregistrationresult')).toMatchObject({ error: { code: 'FORBIDDEN' } });
  });

  test('counts towards the limit of triggers while it is claimed', async () => {
    const world = await openRestricted({ ...RULES, browser: { triggersPerWorker: 3 } });
    const [old, successor] = [await world.browser(), await world.browser()];
    for (const id of ['a', 'b', 'c']) old.bind(id, 't', 'api::x');
    for (const id of ['a', 'b', 'c', 'd']) successor.bind(id, 't', 'api::y');
    expect(successor.receivedOne('triggerregistrationresult')).toMatchObject({ id: 'd' });
    old.drop();
    expect([...world.engine.context.triggers.bindings()].map(({ functionId }) => functionId)).toEqual(
      Array.from({ length: 3 }, () => 'api::y'),
    );
  });

  test('is refused at once if the registration is too large', async () => {
    const { successor } = await openWithHolder();
    successor.bind('b', 't', 'api::new', { metadata: 'x'.repeat(65 * 1024) });
    expect(successor.receivedOne('triggerregistrationresult')).toMatchObject({
      error: { code: 'trigger_registration_failed' },
    });
  });
});

describe('a trigger id that a proven reattach has freed', () => {
  test('is kept for the successor, across another reconnect, until the successor is gone', async () => {
    const { page, old, successor, target } = await openWithHolder();
    const thief = await page();
    thief.bind('b', 't', 'api::thief');
    successor.reattach(old);
    expect(target()).toBeUndefined();
    const third = await page();
    third.reattach(successor);
    expect(target()).toBeUndefined();
    third.bind('b', 't', 'api::third');
    expect(target()).toBe('api::third');
    third.drop();
    expect(target()).toBe('api::thief');
  });

  test('is free after 30 s if the successor does not claim it', async () => {
    const { engine, backend, auth, page, old, successor, target } = await openWithHolder();
    successor.reattach(old);
    live(engine, 15, [backend, auth, successor]);
    const other = await page();
    other.bind('b', 't', 'api::other');
    expect(target()).toBeUndefined();
    live(engine, 16, [backend, auth, successor, other]);
    expect(target()).toBe('api::other');
  });
});

/** Time in which the given connections send something, and no other does. */
function live(engine: EngineInMemory, seconds: number, workers: readonly TestWorker[]): void {
  for (let second = 0; second < seconds; second++) {
    for (const worker of workers) worker.sign();
    engine.advance(1_000);
  }
}

function raise(): never {
  throw new Error('The connection is gone');
}
