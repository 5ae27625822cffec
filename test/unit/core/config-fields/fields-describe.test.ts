import { describe, expect, test } from 'vitest';
import {
  anything,
  either,
  fields,
  flag,
  integer,
  listOf,
  mapOf,
  oneOf,
  optional,
  refused,
  text,
} from '../../../../src/core/config-fields/fields.ts';
import { listFields } from '../../../../src/core/config-fields/fields-describe.ts';

describe('the list of fields', () => {
  test('[CLI-7] Every field is listed with path, kind, default and help, in the order of declaration', () => {
    const schema = fields({
      port: integer({ min: 0, max: 65_535, default: 1, help: 'Where to listen' }),
      host: text(),
      limits: fields({ frame_bytes: integer({ default: 5 }) }),
      threads: either(integer({ min: 1 }), oneOf(['auto']), { default: 'auto' }),
    });
    expect(listFields(schema)).toEqual([
      { path: 'port', expected: 'an integer from 0 to 65535', help: 'Where to listen', isRequired: false, fallback: 1 },
      { path: 'host', expected: 'non-empty text', help: undefined, isRequired: true, fallback: undefined },
      { path: 'limits.frame_bytes', expected: 'an integer', help: undefined, isRequired: false, fallback: 5 },
      {
        path: 'threads',
        expected: "an integer of at least 1 or 'auto'",
        help: undefined,
        isRequired: false,
        fallback: 'auto',
      },
    ]);
  });

  test('[CLI-7] Groups inside lists and maps are listed under a placeholder for any item', () => {
    const schema = fields({
      queues: mapOf(fields({ concurrency: integer() })),
      rules: listOf(fields({ on: flag() }), { default: [] }),
      hosts: listOf(text(), { default: [] }),
    });
    expect(listFields(schema).map(({ path }) => path)).toEqual([
      'queues',
      'queues.*.concurrency',
      'rules',
      'rules[].on',
      'hosts',
    ]);
  });

  test('[CLI-7] Optional fields are not required, the required parts inside an optional group are', () => {
    const schema = fields({
      auth: optional(text()),
      rbac: optional(fields({ expose: listOf(text()) })),
      cors: optional(fields({ origins: listOf(text()) }), 'Without it none'),
      raw: anything(),
    });
    expect(listFields(schema).map(({ path, isRequired, help }) => [path, isRequired, help])).toEqual([
      ['auth', false, undefined],
      ['rbac.expose', true, undefined],
      ['cors', false, 'Without it none'],
      ['cors.origins', true, undefined],
      ['raw', true, undefined],
    ]);
  });

  test('[CLI-7] Refused keys are not listed', () => {
    expect(listFields(fields({ cluster: refused('Not yet.') }))).toEqual([]);
  });
});
