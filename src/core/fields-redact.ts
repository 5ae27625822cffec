// A checked value with its secrets taken out, by the schema that declared it.

import type { FieldsSchema, Schema } from './fields.ts';
import { isMap } from './fields-check.ts';
import { isSecretKey, REDACTED, redactKeys } from './redaction.ts';

/**
 * A plain copy to be shown, without the fields that were left out. Text that the schema calls secret goes, and so
 * does whatever the rule for keys (X22) names. Names that users gave to groups are no such keys: a queue called
 * `token_refresh` stays readable.
 */
export function redactBySchema({ fields }: FieldsSchema<unknown>, values: unknown): Record<string, unknown> {
  return redactFields(fields, isMap(values) ? values : {});
}

function redactValue(schema: Schema<unknown>, value: unknown, key: string): unknown {
  if (value === undefined || value === null) return value;
  if (isSecretKey(key)) return REDACTED;
  switch (schema.kind) {
    case 'optional':
      return redactValue(schema.inner, value, key);
    case 'either':
      // An option leaves alone what is not of its kind.
      return schema.options.reduce<unknown>((shown, option) => redactValue(option, shown, key), value);
    case 'fields':
      return isMap(value) ? redactFields(schema.fields, value) : value;
    case 'mapOf':
      return isMap(value) ? redactMap(schema.item, value) : value;
    case 'listOf':
      return Array.isArray(value) ? value.map((item: unknown) => redactValue(schema.item, item, key)) : value;
    case 'anything':
      return redactKeys(value, key);
    default:
      if (typeof value === 'object') return value;
      return schema.kind === 'text' && schema.secret ? REDACTED : redactKeys(value, key);
  }
}

function redactFields(
  fields: ReadonlyMap<string, Schema<unknown>>,
  values: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  const shown: Record<string, unknown> = Object.create(null);
  for (const [key, field] of fields) {
    const value = values[key];
    if (value !== undefined) shown[key] = redactValue(field, value, key);
  }
  return shown;
}

function redactMap(item: Schema<unknown>, values: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const shown: Record<string, unknown> = Object.create(null);
  for (const [name, value] of Object.entries(values)) {
    shown[name] = redactValue(item, value, item.kind === 'fields' ? '' : name);
  }
  return shown;
}
