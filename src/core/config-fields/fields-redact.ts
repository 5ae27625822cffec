// A checked value with its secrets removed, by the schema that declared it.

import type { FieldsSchema, Schema, Shown } from './fields.ts';
import { isMap } from './fields-check.ts';
import { isSecretKey, REDACTED, redactKeys, redactSecretUrl, redactUrl } from './redaction.ts';

/**
 * A plain copy for display, without the fields that were left out. Text is shown as far as its kind allows, and nothing
 * that the rule for keys (X22) names. An address never shows user info or query, in any field. Names that users gave to
 * groups are not keys in this sense: a queue called `token_refresh` stays readable.
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
      // An option ignores values that are not of its kind.
      return schema.options.reduce<unknown>((shown, option) => redactValue(option, shown, key), value);
    case 'fields':
      return isMap(value) ? redactFields(schema.fields, value) : value;
    case 'mapOf':
      return isMap(value) ? redactMap(schema.item, value) : value;
    case 'listOf':
      return Array.isArray(value) ? value.map((item: unknown) => redactValue(schema.item, item, key)) : value;
    case 'anything':
      return withoutCredentials(redactKeys(value, key));
    case 'text':
      return typeof value === 'string' ? showText(schema.shown, value, key) : value;
    default:
      return value;
  }
}

function showText(shown: Shown, value: string, key: string): unknown {
  switch (shown) {
    case 'nothing':
      return REDACTED;
    case 'origin':
      return redactSecretUrl(value);
    case 'address':
      return redactUrl(value);
    case 'text':
      return withoutCredentials(redactKeys(value, key));
  }
}

/** A field whose author did not think of it shows no password either. */
function withoutCredentials(value: unknown): unknown {
  if (typeof value === 'string') return value.includes('://') ? redactUrl(value) : value;
  if (Array.isArray(value)) return value.map(withoutCredentials);
  if (!isMap(value)) return value;
  const shown: Record<string, unknown> = Object.create(null);
  for (const [key, member] of Object.entries(value)) shown[key] = withoutCredentials(member);
  return shown;
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
