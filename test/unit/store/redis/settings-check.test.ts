import { describe, expect, test } from 'vitest';
import { weakerPromises } from '../../../../src/store/redis/settings-check.ts';

describe('[PD-55] warnings about the settings of Redis', () => {
  const GOOD = { appendonly: 'yes', appendfsync: 'always', 'maxmemory-policy': 'noeviction' };
  const facts = (settings: object, more: object = {}) => ({
    settings: new Map<string, string>(Object.entries(settings)),
    ...{ replicas: 0, address: 'redis://127.0.0.1:6379', hasPassword: false, ...more },
  });

  test.each<[string, ReturnType<typeof facts>, RegExp[]]>([
    ['all of it', facts(GOOD), []],
    ['all of it, elsewhere', facts(GOOD, { address: 'rediss://***@redis.internal', hasPassword: true }), []],
    ['nothing on disk', facts({ ...GOOD, appendonly: 'no' }), [/^appendonly is off/]],
    ['a sync each second', facts({ ...GOOD, appendfsync: 'everysec' }), [/up to 1 s is lost/]],
    ['a sync some time', facts({ ...GOOD, appendfsync: 'no' }), [/^appendfsync is no/]],
    ['to throw away', facts({ ...GOOD, 'maxmemory-policy': 'allkeys-lru' }), [/throw data away/]],
    ['replicas that may lag', facts({ ...GOOD, 'min-replicas-to-write': '0' }, { replicas: 1 }), [/failover/]],
    ['replicas that are waited for', facts({ ...GOOD, 'min-replicas-to-write': '1' }, { replicas: 1 }), []],
    ['an open door', facts(GOOD, { address: 'redis://redis.internal:6379' }), [/no password/, /no TLS/]],
    ['what it does not say', facts({}), [/cannot be read/]],
  ])('%s', (_what, given, expected) => {
    const weaker = weakerPromises(given);
    expect(weaker).toHaveLength(expected.length);
    for (const [index, pattern] of expected.entries()) expect(weaker[index]).toMatch(pattern);
  });
});
