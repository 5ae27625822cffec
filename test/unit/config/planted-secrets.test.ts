// Every field of the configuration, of every module and adapter, is filled with an address that has secrets. None of
// them is shown. A new field is included as soon as it is declared.

import { describe, expect, test } from 'vitest';
import { projectWorkerFields } from '../../../src/config/project-workers.ts';
import { topLevel } from '../../../src/config/settings.ts';
import {
  type FieldsSchema,
  fields,
  optional,
  type Schema,
  secretUrl,
  text,
  url,
} from '../../../src/core/config-fields/fields.ts';
import { redactBySchema } from '../../../src/core/config-fields/fields-redact.ts';
import { isAddressKey, isSecretKey } from '../../../src/core/config-fields/redaction.ts';
import { manifestSchema } from '../../../src/core/workers/worker-manifest.ts';
import { DECLARATIONS } from '../../../src/modules/declarations.ts';

const PLANTED =
  'https://planted-user:planted-password@host.example:8443/planted-path?key=planted-query#planted-fragment';

const SCHEMAS: readonly (readonly [string, FieldsSchema<unknown>])[] = [
  ['the top level', topLevel],
  ['a project worker', projectWorkerFields],
  ['svc.worker.yaml', manifestSchema],
  ...DECLARATIONS.flatMap(({ name, config, adapters }) => [
    [name, config] as const,
    ...adapters.map((adapter) => [`${name}, adapter ${adapter.name}`, adapter.config] as const),
  ]),
];

/** A value in which every text is the planted one, and every map has a name of its own. */
function planted(schema: Schema<unknown>): unknown {
  switch (schema.kind) {
    case 'optional':
      return planted(schema.inner);
    case 'fields':
      return Object.fromEntries([...schema.fields].map(([key, field]) => [key, planted(field)]));
    case 'mapOf':
      return { named: planted(schema.item) };
    case 'listOf':
      return [planted(schema.item)];
    case 'either':
      return schema.options.map(planted).find((value) => value !== undefined);
    case 'anything':
      return { deep: [PLANTED], webhook: PLANTED };
    case 'text':
      return PLANTED;
    default:
      return undefined;
  }
}

/** The texts below a schema with the last key on the way to each. */
function textsIn(schema: Schema<unknown>, key: string): { key: string; help: string; shown: string }[] {
  switch (schema.kind) {
    case 'optional':
      return textsIn(schema.inner, key);
    case 'fields':
      return [...schema.fields].flatMap(([name, field]) => textsIn(field, name));
    case 'mapOf':
    case 'listOf':
      return textsIn(schema.item, key).map((one) => ({ ...one, help: `${one.help} ${schema.help ?? ''}` }));
    case 'either':
      return schema.options.flatMap((option) => textsIn(option, key));
    case 'text':
      return [{ key, help: schema.help ?? '', shown: schema.shown }];
    default:
      return [];
  }
}

describe.each(SCHEMAS)('the fields of %s', (_of, schema) => {
  test('[X22] show no user, password, query or fragment of an address, whichever field it is in', () => {
    const shown = JSON.stringify(redactBySchema(schema, planted(schema)));
    for (const secret of ['user', 'password', 'query', 'fragment']) expect(shown).not.toContain(`planted-${secret}`);
  });

  test('[X22] have an address or secret type if their name or help mentions one', () => {
    const named = textsIn(schema, '').filter(
      ({ key, help }) =>
        isSecretKey(key) || isAddressKey(key) || key === 'headers' || /webhook|password|credential|secret/i.test(help),
    );
    expect(named.filter(({ shown }) => shown === 'text')).toEqual([]);
    const webhooks = named.filter(({ key, help }) => /webhook/i.test(`${key} ${help}`));
    expect(webhooks.filter(({ shown }) => shown !== 'origin')).toEqual([]);
  });
});

test('[X22] the fields that hold secrets are known', () => {
  const found = SCHEMAS.flatMap(([, schema]) => textsIn(schema, ''))
    .filter(({ shown }) => shown !== 'text')
    .map(({ key, shown }) => `${key} ${shown}`);
  expect(new Set(found)).toEqual(
    new Set([
      'bridge_token nothing',
      'mark_key nothing',
      'password nothing',
      'servers address',
      'headers nothing',
      'env nothing',
      'endpoint address',
      'extstore_url address',
      'redis_url address',
      'amqp_url address',
      'bridge_url address',
      'url address',
      'token nothing',
      'url origin',
    ]),
  );
});

test('[X22] a url field shows origin and path, a secretUrl field the origin', () => {
  const schema = fields({ plain: text(), place: url(), hook: secretUrl(), none: optional(secretUrl()) });
  const values = { plain: PLANTED, place: PLANTED, hook: PLANTED, none: undefined };
  expect(redactBySchema(schema, values)).toEqual({
    plain: 'https://[redacted]@host.example:8443/planted-path?[redacted]',
    place: 'https://[redacted]@host.example:8443/planted-path?[redacted]',
    hook: 'https://[redacted]@host.example:8443/[redacted]',
  });
});
