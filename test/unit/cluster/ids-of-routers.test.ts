// An id that workers of two routers register before either router knows of the other one.

import { expect, test } from 'vitest';
import { RegistryCopy } from '../../../src/cluster/registry-copy.ts';
import { keyPart } from '../../../src/core/cluster/bucket-keys.ts';
import { RemoteEngine } from '../../../src/router/remote/remote-engine.ts';
import type { TestWorker } from '../../support/clients/test-worker.ts';
import { OWN_SDK, openRestricted, type RestrictedPort } from '../../support/engine/restricted-port.ts';

const OWN_ORDER = 5;
const [OLDER, NEWER] = [4, 6];
const TRIGGER = { type: 'clock', function_id: 'far::one', config: '{}', owner: 'w1', sdk: true };
const PORT = { workerId: 'w2', port: '127.0.0.1:0', allowedPatterns: ['*'] };
const GRANT = { context: {}, allow_trigger_type_registration: true };

class OtherRouter {
  readonly #opened: RestrictedPort;
  readonly #copy: RegistryCopy;

  constructor(opened: RestrictedPort) {
    const { context } = opened.engine;
    this.#opened = opened;
    this.#copy = new RegistryCopy(context, 'own');
    for (const id of ['r2', 'r3']) this.#copy.engineCame(new RemoteEngine(id, undefined, context.compact, true));
  }

  /** The trigger `t` of this router has its order, as it has once it is announced. */
  bind(worker: TestWorker): void {
    worker.send({ type: 'registertrigger', id: 't', trigger_type: 'clock', function_id: 'own', config: null });
    const binding = this.#opened.engine.context.triggers.binding('t');
    if (binding === undefined) throw new Error('The trigger was refused');
    binding.order = OWN_ORDER;
  }

  announce(order: number, rights?: { readonly prefix?: string }): void {
    const restricted = rights && { rights: PORT, owner: PORT.workerId, ...rights };
    const value = JSON.stringify({ ...TRIGGER, first: order, ...restricted });
    this.#copy.entry({ key: `r2.${rights === undefined ? 't' : 'r'}.${keyPart('t').part}`, value, revision: order });
  }

  /** One connection of each router asks for the id, the older one first; then that one leaves. */
  replaceOnOtherRouters(): void {
    for (const [router, order, function_id] of [
      ['r2', OLDER, 'far::one'],
      ['r3', NEWER, 'far::two'],
    ] as const) {
      const value = JSON.stringify({ ...TRIGGER, function_id, first: order, rights: PORT, owner: `of ${router}` });
      this.#copy.entry({ key: `${router}.r.${keyPart('t').part}`, value, revision: order });
    }
    expect(this.target).toBe('far::one');
    this.#copy.entry({ key: `r2.r.${keyPart('t').part}`, value: undefined, revision: NEWER + 1 });
  }

  announceType(order: number, rights?: { readonly prefix?: string }): void {
    const value = JSON.stringify({ description: 'Ticks', by: 'w1', first: order, ...rights });
    this.#copy.entry({ key: `r2.${rights === undefined ? 'y' : 'x'}.${keyPart('mine').part}`, value, revision: order });
  }

  get target(): string | undefined {
    return this.#opened.engine.context.triggers.binding('t')?.functionId;
  }

  get provider(): string | undefined {
    return this.#opened.engine.context.triggers.type('mine')?.provider.kind;
  }
}

async function openPage(grant: object = {}) {
  const opened = await openRestricted({ rbac: { allow_trigger_types: ['clock'], expose_functions: [] } });
  const page = await opened.browser({ ...GRANT, ...grant }, OWN_SDK);
  page.register('own');
  return { opened, page, other: new OtherRouter(opened) };
}

test.each([
  ['the newer', OLDER, 'own'],
  ['the newer', NEWER, 'far::one'],
] as const)('[RO17] %s of two trusted workers has the id of a trigger (%i against 5)', async (_, order, target) => {
  const opened = await openRestricted();
  const other = new OtherRouter(opened);
  opened.backend.register('own');
  other.bind(opened.backend);
  other.announce(order);
  expect(other.target).toBe(target);
});

test.each([
  ['the older', NEWER, 'own'],
  ['the older', OLDER, 'far::one'],
] as const)('[RO17] [X9] %s of two restricted connections has it (%i against 5)', async (_, order, target) => {
  const { page, other } = await openPage();
  other.bind(page);
  other.announce(order, {});
  expect(other.target).toBe(target);
  const refused = page.received('triggerregistrationresult').map(({ id, error }) => [id, Object(error).code]);
  expect(refused).toEqual(target === 'own' ? [] : [['t', 'FORBIDDEN']]);
});

test.each([
  [NEWER, 'far::one'],
  [OLDER, 'user-1::own'],
] as const)('[RO17] of two with one prefix the newer has it (%i against 5)', async (order, target) => {
  const { page, other } = await openPage({ function_registration_prefix: 'user-1' });
  other.bind(page);
  other.announce(order, { prefix: 'user-1' });
  expect(other.target).toBe(target);
  expect(page.received('triggerregistrationresult')).toEqual([]);
});

test.each([OLDER, NEWER])('[RO17] [X9] a trusted worker has it, whichever is newer (%i against 5)', async (order) => {
  const { opened, page, other } = await openPage();
  other.bind(page);
  other.announce(order);
  expect(other.target).toBe('far::one');
  other.bind(opened.backend);
  other.announce(order, {});
  expect(other.target).toBe('own');
});

test.each([
  ['the older of two restricted connections', NEWER, {}, 'worker'],
  ['the older of two restricted connections', OLDER, {}, 'engine'],
  ['a trusted worker', OLDER, undefined, 'engine'],
] as const)('[RO17] [CL33] %s has a trigger type (%i against 5)', async (_, order, rights, provider) => {
  const { opened, page, other } = await openPage();
  page.send({ type: 'registertriggertype', id: 'mine', description: 'Ticks' });
  const spec = opened.engine.context.triggers.type('mine')?.spec;
  if (spec === undefined) throw new Error('The type was refused');
  spec.order = OWN_ORDER;
  other.announceType(order, rights);
  expect(other.provider).toBe(provider);
  const refused = page.received('registrationrejected').map(({ trigger_type }) => trigger_type);
  expect(refused).toEqual(provider === 'engine' ? ['mine'] : []);
});

test('[RO17] [X9] the successor of a restricted connection has the id, also where it was announced before its end', async () => {
  const opened = await openRestricted({ rbac: { allow_trigger_types: ['clock'], expose_functions: [] } });
  const other = new OtherRouter(opened);
  other.replaceOnOtherRouters();
  expect(other.target).toBe('far::two');
});
