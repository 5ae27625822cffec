// The compiler checks this file: `tsc` fails if a type differs from the one written here.

import { describe, expectTypeOf, test } from 'vitest';
import {
  either,
  fields,
  flag,
  integer,
  listOf,
  mapOf,
  oneOf,
  optional,
  refused,
  type Schema,
  text,
  type ValueOf,
} from '../../../../src/core/config-fields/fields.ts';
import { checkValue } from '../../../../src/core/config-fields/fields-check.ts';

describe('the type that follows from a declaration', () => {
  test('[K4] Each kind gives the type of its checked value', () => {
    const schema = fields({
      port: integer({ default: 1 }),
      host: text(),
      strict: flag({ default: false }),
      mode: oneOf(['fifo', 'standard'], { default: 'standard' }),
      names: listOf(text()),
      sizes: mapOf(integer()),
      threads: either(integer(), oneOf(['auto']), { default: 'auto' }),
      auth: optional(text()),
      nested: fields({ on: flag() }),
    });
    expectTypeOf<ValueOf<typeof schema>>().toEqualTypeOf<{
      readonly port: number;
      readonly host: string;
      readonly strict: boolean;
      readonly mode: 'fifo' | 'standard';
      readonly names: readonly string[];
      readonly sizes: Readonly<Record<string, number>>;
      readonly threads: number | 'auto';
      readonly auth: string | undefined;
      readonly nested: { readonly on: boolean };
    }>();
  });

  test('[K4] Keys that are refused are no part of the value', () => {
    const schema = fields({ port: integer(), cluster: refused('Not yet.') });
    expectTypeOf<ValueOf<typeof schema>>().toEqualTypeOf<{ readonly port: number }>();
  });

  test('[K4] A check gives the value in that type', () => {
    const checked = checkValue(fields({ port: integer() }), { port: 1 });
    if (checked.ok) expectTypeOf(checked.value).toEqualTypeOf<{ readonly port: number }>();
    expectTypeOf<Schema<number>>().not.toExtend<Schema<string>>();
  });
});
