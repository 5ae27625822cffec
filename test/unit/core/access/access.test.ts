import { describe, expect, test } from 'vitest';
import { Access, ANONYMOUS, type Grant, isReserved, type Registrations } from '../../../../src/core/access/access.ts';
import { type ExposeEntry, readExposeEntry } from '../../../../src/core/access/expose-filter.ts';
import { Pattern } from '../../../../src/core/access/pattern.ts';

describe('what a restricted connection may call', () => {
  test('[X5] it may call only functions that a rule names', () => {
    const access = accessWith([]);
    for (const id of ['api::x', 'state::get', 'engine::functions::list', '', '*'])
      expect(access.reach(id)).toBe('hidden');
  });

  test.each(['engine::channels::create', 'engine::workers::register', 'engine::log::warn', 'engine::baggage::get_all'])(
    '[X8] it may always call %s, which the SDK needs',
    (id) => {
      expect(accessWith([]).reach(id)).toBe('allowed');
      expect(accessWith([]).reach(id.toUpperCase())).toBe('hidden');
    },
  );

  test('[wire 8.4] a forbidden id stays forbidden, even if another rule allows it', () => {
    const id = 'api::secret';
    const grant = { allowed: new Set([id, 'engine::log::info']), forbidden: new Set([id, 'engine::log::info']) };
    const access = accessWith(['match("*")'], grant);
    expect(access.reach(id)).toBe('forbidden');
    expect(access.reach('engine::log::info')).toBe('forbidden');
    expect(access.reach('api::other')).toBe('allowed');
  });

  test('[PD-30] it may never call the functions of project workers, whatever rule names them', () => {
    const access = accessWith(['match("worker::*")'], { allowed: new Set(['worker::add']) });
    expect(access.reach('worker::add')).toBe('never');
  });

  test('[wire 8.2] a grant adds ids, of the engine too, and patterns, which never match the engine', () => {
    const grant = { allowed: new Set(['engine::functions::list']), allowedPatterns: [new Pattern('my::*')] };
    const access = accessWith([], grant);
    expect(access.mayReach('engine::functions::list')).toBe(true);
    expect(access.mayReach('my::thing')).toBe(true);
    expect(accessWith([], { allowedPatterns: [new Pattern('*')] }).mayReach('engine::functions::list')).toBe(false);
  });

  test.each(['API::x', 'api::X ', ' api::x', 'api:x', 'api::x\u0000', 'аpi::x', 'api\u200b::x', 'xapi::x', 'api：：x'])(
    '[X7] %j does not match api::*',
    (id) => {
      expect(accessWith(['match("api::*x")']).reach(id)).toBe('hidden');
    },
  );
});

describe('cached decisions', () => {
  test('[X7] a change of the registrations ends them', () => {
    const metadata = new Map<string, unknown[]>([['f', [{ public: true }]]]);
    const registrations = { version: 1, metadataOf: (id: string) => metadata.get(id) ?? [] };
    const access = accessWith([{ metadata: { public: true } }], {}, registrations);
    expect(access.mayReach('f')).toBe(true);
    metadata.set('f', [{ public: true }, {}]);
    registrations.version++;
    expect(access.mayReach('f')).toBe(false);
    metadata.delete('f');
    registrations.version++;
    expect(access.mayReach('f')).toBe(false);
  });

  test('[X7] thousands of other ids do not change them', () => {
    const access = accessWith(['match("api::*")']);
    for (let number = 0; number < 2_000; number++) {
      expect(access.mayReach(`api::${number}`)).toBe(true);
      expect(access.mayReach(`db::${number}`)).toBe(false);
    }
    expect(access.mayReach('api::0')).toBe(true);
    expect(access.mayReach('db::0')).toBe(false);
  });
});

describe('the work of a decision', () => {
  test('[X10] it is the same for a hidden function and for a missing one', () => {
    const asked: string[] = [];
    const metadataOf = (id: string): readonly unknown[] => {
      asked.push(id);
      return id === 'secret::there' ? [{ public: false }] : [];
    };
    const access = accessWith([{ metadata: { public: true } }, 'match("api::*")'], {}, { version: 0, metadataOf });
    for (let round = 0; round < 2; round++) {
      for (const id of ['secret::there', 'secret::gone']) expect(access.reach(id)).toBe('hidden');
    }
    expect(asked).toEqual(['secret::there', 'secret::gone']);
  });
});

describe('trigger types', () => {
  test('[X9] a connection may bind to the listed types only, and its grant replaces the list of the port', () => {
    const types = new Set(['cron']);
    expect(accessWith([]).mayBindTo('cron')).toBe(false);
    expect(accessWith([], {}, undefined, types).mayBindTo('cron')).toBe(true);
    expect(accessWith([], {}, undefined, types).mayBindTo('http')).toBe(false);
    const granted = accessWith([], { triggerTypes: new Set(['http']) }, undefined, types);
    expect([granted.mayBindTo('http'), granted.mayBindTo('cron')]).toEqual([true, false]);
  });
});

describe('reserved ids', () => {
  test.each([
    ['engine::x', true],
    ['state::get', true],
    ['stream::get(mine)', true],
    ['engine', false],
    ['ui::state::get', false],
    ['States::x', false],
  ])('[X9] %s is reserved: %s', (id, isTaken) => {
    expect(isReserved(id)).toBe(isTaken);
  });
});

const NO_REGISTRATIONS: Registrations = { version: 0, metadataOf: () => [] };

function accessWith(
  expose: readonly ExposeEntry[],
  grant: Partial<Grant> = {},
  registrations = NO_REGISTRATIONS,
  triggerTypes: ReadonlySet<string> = new Set(),
): Access {
  const filters = expose.map((entry) => {
    const read = readExposeEntry(entry);
    if (!read.ok) throw new Error(read.reason);
    return read.value;
  });
  return new Access(
    { port: 'p', policy: { expose: filters, triggerTypes, sharedQueues: new Set() } },
    { ...ANONYMOUS, ...grant },
    registrations,
  );
}
