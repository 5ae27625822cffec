import { describe, expect, test } from 'vitest';
import {
  anything,
  either,
  fields,
  integer,
  listOf,
  mapOf,
  optional,
  secretText,
  text,
  type ValueOf,
} from '../../../../src/core/config-fields/fields.ts';
import { redactBySchema } from '../../../../src/core/config-fields/fields-redact.ts';
import { REDACTED } from '../../../../src/core/config-fields/redaction.ts';

const queue = fields({ concurrency: integer({ default: 10 }) });

const schema = fields({
  pin: optional(secretText()),
  bridge_token: optional(text()),
  token_ttl_ms: integer({ default: 5 }),
  extstore_url: text({ default: 'redis://localhost' }),
  queues: mapOf(queue, { default: {} }),
  headers: mapOf(text(), { default: {} }),
  mode: either(text(), mapOf(text()), { default: 'plain' }),
  list: listOf(fields({ secret: text(), name: text() }), { default: [] }),
  raw: optional(anything()),
});

const plain: ValueOf<typeof schema> = {
  pin: undefined,
  bridge_token: undefined,
  token_ttl_ms: 5,
  extstore_url: 'redis://localhost',
  queues: {},
  headers: {},
  mode: 'plain',
  list: [],
  raw: undefined,
};

describe('a checked value as it is shown', () => {
  test('[X22] Text that the schema calls secret and keys with secret names are replaced', () => {
    const shown = redactBySchema(schema, { ...plain, pin: '1234', bridge_token: 'abc' });
    expect(shown).toMatchObject({ pin: REDACTED, bridge_token: REDACTED, token_ttl_ms: REDACTED });
  });

  test('[X22] Addresses lose user info and query', () => {
    expect(redactBySchema(schema, { ...plain, extstore_url: 'redis://u:p@h/0?x=1' })).toMatchObject({
      extstore_url: `redis://${REDACTED}@h/0?${REDACTED}`,
    });
  });

  test('[X22] Secrets are found in maps, lists, alternatives and values without a schema', () => {
    const shown = redactBySchema(schema, {
      ...plain,
      headers: { authorization: 'Bearer abc', accept: 'all' },
      mode: { password: 'abc', other: 'x' },
      list: [{ secret: 'abc', name: 'n' }],
      raw: { deep: [{ apiKey: 'abc' }] },
    });
    expect(shown).toMatchObject({
      headers: { authorization: REDACTED, accept: 'all' },
      mode: { password: REDACTED, other: 'x' },
      list: [{ secret: REDACTED, name: 'n' }],
      raw: { deep: [{ apiKey: REDACTED }] },
    });
    expect(JSON.stringify(shown)).not.toContain('abc');
  });

  test('[X22] A group that the user named `token` is shown', () => {
    expect(redactBySchema(schema, { ...plain, queues: { token_refresh: { concurrency: 2 } } })).toMatchObject({
      queues: { token_refresh: { concurrency: 2 } },
    });
  });

  test('[X22] Fields that were left out are not shown', () => {
    expect(Object.keys(redactBySchema(schema, plain))).toEqual([
      'token_ttl_ms',
      'extstore_url',
      'queues',
      'headers',
      'mode',
      'list',
    ]);
  });

  test('[X19] A name such as __proto__ changes no prototype', () => {
    const headers = JSON.parse('{"__proto__": "x"}');
    expect(JSON.stringify(redactBySchema(schema, { ...plain, headers }).headers)).toBe('{"__proto__":"x"}');
  });
});
