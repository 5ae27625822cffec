import { expect, test } from 'vitest';
import { Counters } from '../../../src/core/registry/counters.ts';
import { systemClock } from '../../../src/effects/clock.ts';
import { createLogger } from '../../../src/effects/logger.ts';
import { OwnState } from '../../../src/engine/routers/own-state.ts';
import { SharedState } from '../../../src/modules/shared-state.ts';
import { Payload } from '../../../src/protocol/payload/payload.ts';
import { EngineInMemory } from '../../support/engine/engine-in-memory.ts';
import { type OpenedTestStore, openTestStore } from '../../support/engine/running-store.ts';

const CALL = {
  ...{ depth: 0, traceparent: undefined, baggage: undefined, isForRestricted: false },
  ...{ callerWorkerId: undefined, callerName: undefined, rights: undefined, sent: undefined },
};

function stateOfRouter(): OwnState {
  const logger = createLogger({ level: 'error', format: 'default', clock: systemClock, write: () => true });
  const { triggers } = new EngineInMemory().context;
  const fail = (reason: string): never => {
    throw new Error(reason);
  };
  return new OwnState({ clock: systemClock, logger, counters: new Counters(), triggers }, fail);
}

async function call(state: OwnState, functionId: string, input: object): Promise<unknown> {
  const definition = state.functions.find(({ id }) => id === functionId);
  const bytes = Buffer.from(JSON.stringify(input));
  // The result is valid until the callback returns.
  const text = await new Promise<string>((resolve) =>
    definition?.handleRaw(Payload.ofBytes(bytes, 0, bytes.length), CALL, ({ result }) =>
      resolve(String(result?.asText())),
    ),
  );
  return JSON.parse(text);
}

const ENTRY = { scope: 's', key: 'k' };

test('[RO15] a router leaves state to the first one until it is kept on this machine, and once it is removed', async () => {
  const state = stateOfRouter();
  const shared = new SharedState();
  expect(state.isHeard).toBe(true);
  const stores: OpenedTestStore[] = [];
  for (const value of ['of one store', 'of another one']) {
    const opened = await openTestStore({ kind: 'memory' }, false, true);
    stores.push(opened);
    const kept = shared.share(opened.store);
    state.open({ port: await opened.registry.portTo(opened.store), name: 'memory', flag: kept.flag });
    expect(state.isHeard).toBe(true);
    kept.note(false);
    expect(state.isHeard).toBe(false);
    expect(await call(state, 'state::get', ENTRY)).toBe(null);
    await call(state, 'state::set', { ...ENTRY, value });
    expect(await call(state, 'state::get', ENTRY)).toBe(value);
    kept.note(true);
    expect(state.isHeard).toBe(true);
    kept.end();
    kept.note(false);
    expect(state.isHeard).toBe(true);
  }
  for (const { registry } of stores) await registry.close();
});
