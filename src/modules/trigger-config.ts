// Reads the config of a trigger by a schema; a refusal names the field and the expected value.

import { anything, type FieldsSchema, type Schema } from '../core/config-fields/fields.ts';
import { checkValue, isMap } from '../core/config-fields/fields-check.ts';

/** Every type with a condition accepts the key: the router checks and calls it (T8). */
export const CONDITION_FIELD: Schema<unknown> = { ...anything(), kind: 'optional', inner: anything() };

export type TriggerConfig<C> =
  | { readonly ok: true; readonly config: C }
  /** In words for the worker that registered the trigger. */
  | { readonly ok: false; readonly reason: string };

export function readTriggerConfig<C>(type: string, schema: FieldsSchema<C>, config: unknown): TriggerConfig<C> {
  const checked = checkValue(schema, withoutNulls(config ?? {}));
  if (checked.ok) return { ok: true, config: checked.value };
  const [first] = checked.problems;
  const path = first === undefined || first.path.length === 0 ? '' : `.${first.path.join('.')}`;
  return {
    ok: false,
    reason: `The config${path} of the ${type} trigger: ${first?.message ?? 'it has the wrong shape'}`,
  };
}

/** Clients in other languages send null for an omitted field. */
function withoutNulls(config: unknown): unknown {
  if (!isMap(config)) return config;
  return Object.fromEntries(Object.entries(config).filter(([, value]) => value !== null));
}
