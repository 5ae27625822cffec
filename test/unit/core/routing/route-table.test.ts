import { expect, test } from 'vitest';
import { parseRoutePattern, type RoutePattern } from '../../../../src/core/routing/route-pattern.ts';
import { RouteTable, WITHDRAWN_MS } from '../../../../src/core/routing/route-table.ts';
import { forEachSeed, type SeededRandom } from '../../../support/random/seeded-random.ts';

function pattern(text: string): RoutePattern {
  const parsed = parseRoutePattern(text);
  if (!parsed.ok) throw new Error(parsed.reason);
  return parsed.pattern;
}

/** The found entry, with the values of its parameters. */
function find(table: RouteTable<string>, method: string, path: string): unknown {
  const route = table.find(method, path);
  const owner = route?.owners.at(-1);
  return owner === undefined ? undefined : [owner, ...table.values.slice(0, route?.pattern.parameters.length)];
}

test('a fixed segment has priority over a parameter, in every position', () => {
  const table = new RouteTable<string>();
  for (const path of ['/:a/:b', '/x/:b', '/:a/y', '/x/y']) table.add('GET', pattern(path), path);
  expect(find(table, 'GET', '/x/y')).toEqual(['/x/y']);
  expect(find(table, 'GET', '/x/z')).toEqual(['/x/:b', 'z']);
  expect(find(table, 'GET', '/z/y')).toEqual(['/:a/y', 'z']);
  expect(find(table, 'GET', '/z/z')).toEqual(['/:a/:b', 'z', 'z']);
});

test('a path that fails after a fixed segment is matched with the parameter', () => {
  const table = new RouteTable<string>();
  table.add('GET', pattern('/a/b/c'), 'written');
  table.add('GET', pattern('/:x/b/d'), 'parameter');
  expect(find(table, 'GET', '/a/b/d')).toEqual(['parameter', 'a']);
});

test('escapes are decoded before the comparison, and an escaped slash is no separator', () => {
  const table = new RouteTable<string>();
  table.add('GET', pattern('/caf%C3%A9/:x'), 'one');
  expect(find(table, 'GET', '/caf%c3%a9/a%2Fb')).toEqual(['one', 'a/b']);
  expect(find(table, 'GET', '/caf%C3%A9/%zz')).toBeUndefined();
});

test('an empty segment is not a parameter, and a slash at the end counts', () => {
  const table = new RouteTable<string>();
  table.add('GET', pattern('/a/:x'), 'one');
  table.add('GET', pattern('/b/'), 'two');
  expect(find(table, 'GET', '/a/')).toBeUndefined();
  expect(find(table, 'GET', '/b')).toBeUndefined();
  expect(find(table, 'GET', '/b/')).toEqual(['two']);
});

test('[H1] a route without an owner is remembered for a while, and a new owner gets it at once', () => {
  const table = new RouteTable<string>();
  table.add('GET', pattern('/:a'), 'old');
  table.add('GET', pattern('/:a'), 'new');
  expect(table.remove('old', 0)).toEqual(['new']);
  expect(find(table, 'GET', '/1')).toEqual(['new', '1']);
  table.remove('new', 1_000);
  expect(table.find('GET', '/1')).toMatchObject({ owners: [], withdrawnMs: 1_000 });
  expect(table.conflict('GET', pattern('/:b'))).toBeUndefined();
  table.prune(1_000 + WITHDRAWN_MS - 1);
  expect(table.find('GET', '/1')).toBeDefined();
  table.prune(1_000 + WITHDRAWN_MS);
  expect(table.find('GET', '/1')).toBeUndefined();
});

test('a route that its last owner removes is forgotten at once', () => {
  const table = new RouteTable<string>();
  table.add('GET', pattern('/:a'), 'old');
  table.add('GET', pattern('/:a'), 'new');
  expect(table.remove('new', undefined)).toEqual(['old']);
  expect(find(table, 'GET', '/1')).toEqual(['old', '1']);
  expect(table.remove('old', undefined)).toEqual([]);
  expect(table.find('GET', '/1')).toBeUndefined();
  expect([...table.routes()]).toEqual([]);
  table.add('GET', pattern('/:b'), 'other');
  expect(find(table, 'GET', '/1')).toEqual(['other', '1']);
});

test('[H1] an owner that is not the newest leaves without effect', () => {
  const table = new RouteTable<string>();
  for (const owner of ['1', '2', '3']) table.add('GET', pattern('/a'), owner);
  expect(table.remove('2', 0)).toEqual(['1', '3']);
  expect(table.remove('3', 0)).toEqual(['1']);
});

test('[H2] two paths that differ in parameter names conflict, for the same method only', () => {
  const table = new RouteTable<string>();
  table.add('GET', pattern('/u/:id/x'), 'one');
  expect(table.conflict('GET', pattern('/u/:name/x'))?.pattern.text).toBe('/u/:id/x');
  expect(table.conflict('POST', pattern('/u/:name/x'))).toBeUndefined();
  expect(table.conflict('GET', pattern('/u/:id/x'))).toBeUndefined();
});

test('the result is that of a search through all routes, after any changes', () => {
  forEachSeed(60, (random) => {
    const table = new RouteTable<string>();
    const held = new Map<string, { method: string; pattern: RoutePattern }>();
    for (let step = 0; step < 40; step++) {
      const method = random.pick(['GET', 'POST']);
      const own = pattern(randomPath(random, ['a', 'b', ':x', '']));
      const [victim] = held.keys();
      if (random.below(4) === 0 && victim !== undefined) {
        table.remove(victim, 0);
        table.prune(WITHDRAWN_MS);
        held.delete(victim);
      } else if (table.conflict(method, own) === undefined) {
        const owner = `${step} ${method} ${own.text}`;
        table.add(method, own, owner);
        held.set(owner, { method, pattern: own });
      }
      const path = randomPath(random, ['a', 'b', 'c', '']);
      expect([path, find(table, method, path)]).toEqual([path, findNaively(held, method, path)]);
    }
  });
});

test('[fault 41] a long path among misleading routes takes one step per segment', () => {
  const { table, path } = misleadingRoutes(12);
  // The escape keeps it out of the list of paths without parameters, which would find it at once.
  const { answer, lookups } = countLookups(() => find(table, 'GET', `${path}%65nd`));
  expect(answer).toEqual(['4095']);
  expect(lookups).toBeGreaterThan(12);
  expect(lookups).toBeLessThan(2 * 13);
});

test('[fault 41] a path that does not exist, or a search for all methods, takes a few steps per route', () => {
  for (const segments of [6, 12]) {
    const { table, path, routes } = misleadingRoutes(segments);
    const missed = countLookups(() => table.find('GET', `${path}none`));
    expect(missed.answer).toBeUndefined();
    expect(missed.lookups).toBeGreaterThan(routes);
    expect(missed.lookups).toBeLessThan(4 * routes);
    const listed = countLookups(() => table.methodsAt(`${path}end`));
    expect(listed.answer).toEqual(['GET']);
    expect(listed.lookups).toBeLessThan(4 * routes);
  }
});

/** Every mixture of fixed segments and parameters, and the path that matches all of them except for its end. */
function misleadingRoutes(segments: number): { table: RouteTable<string>; path: string; routes: number } {
  const table = new RouteTable<string>();
  const routes = 2 ** segments;
  for (let mask = 0; mask < routes; mask++) {
    const parts = Array.from({ length: segments }, (_, at) => ((mask >> at) & 1 ? 'a' : `:p${at}`));
    table.add('GET', pattern(`/${parts.join('/')}/end`), String(mask));
  }
  return { table, path: `/${'a/'.repeat(segments)}`, routes };
}

/** How many map lookups it makes, one at every node of the trie: the work, independent of the machine. */
function countLookups<T>(work: () => T): { answer: T; lookups: number } {
  const { get } = Map.prototype;
  let lookups = 0;
  Map.prototype.get = function (key: unknown) {
    lookups++;
    return get.call(this, key);
  };
  try {
    const answer = work();
    return { answer, lookups };
  } finally {
    Map.prototype.get = get;
  }
}

function randomPath(random: SeededRandom, parts: readonly string[]): string {
  const length = 1 + random.below(3);
  const chosen = Array.from({ length }, (_, at) => {
    const part = random.pick(parts);
    // An empty segment may be at the end only, and names must differ.
    if (part === '' && at < length - 1) return 'a';
    return part === ':x' ? `:x${at}` : part;
  });
  return `/${chosen.join('/')}`;
}

function findNaively(
  held: ReadonlyMap<string, { method: string; pattern: RoutePattern }>,
  method: string,
  path: string,
): unknown {
  const parts = path.slice(1).split('/');
  const fits = [...held].filter(
    ([, route]) =>
      route.method === method &&
      route.pattern.segments.length === parts.length &&
      route.pattern.segments.every(({ isParameter, text }, at) =>
        isParameter ? parts[at] !== '' : text === parts[at],
      ),
  );
  // Fixed segments first, from the left; of equal shapes the newest.
  const rank = (route: { pattern: RoutePattern }) =>
    route.pattern.segments.map(({ isParameter }) => (isParameter ? '1' : '0')).join('');
  const best = fits.reduce<(typeof fits)[number] | undefined>(
    (chosen, next) => (chosen === undefined || rank(next[1]) <= rank(chosen[1]) ? next : chosen),
    undefined,
  );
  if (best === undefined) return undefined;
  const values = best[1].pattern.segments.flatMap(({ isParameter }, at) => (isParameter ? [parts[at]] : []));
  return [best[0], ...values];
}

test('[CL27] owners have the same order in whatever order they come, and when their order becomes known later', () => {
  forEachSeed(200, (random) => {
    const known = new Map<string, number>();
    const table = new RouteTable<string>((owner) => known.get(owner) ?? Number.POSITIVE_INFINITY);
    const owners = ['1', '2', '3', '4', '5'];
    const late = random.pick(owners);
    for (const owner of random.shuffle(owners)) {
      if (owner !== late) known.set(owner, Number(owner));
      table.add('GET', pattern('/a'), owner);
    }
    expect(find(table, 'GET', '/a')).toEqual([late]);
    known.set(late, Number(late));
    expect(table.reorder(late)).toEqual(owners);
  });
});
