// Reads the config of a trigger by a schema; what does not fit is refused with the field and what it must be.

import { anything, type FieldsSchema, type Schema } from '../core/fields.ts';
import { checkValue, isMap } from '../core/fields-check.ts';

/** Every type that takes a condition lets the key pass: the router checks and asks it (T8). */
export const CONDITION_FIELD: Schema<unknown> = { ...anything(), kind: 'optional', inner: anything() };

export type TriggerConfig<C> =
  | { readonly ok: true; readonly config: C }
  /** In words for whoever registered the trigger. */
  | { readonly ok: false; readonly reason: string };

export function readTriggerConfig<C>(type: string, schema: FieldsSchema<C>, config: unknown): TriggerConfig<C> {
  const checked = checkValue(schema, withoutNulls(config ?? {}));
  if (checked.ok) return { ok: true, config: checked.value };
  const [first] = checked.problems;
  const place = first === undefined || first.path.length === 0 ? '' : `.${first.path.join('.')}`;
  return {
    ok: false,
    reason: `The config${place} of the ${type} trigger: ${first?.message ?? 'it has the wrong shape'}`,
  };
}

/** Clients of other languages send null for what was left out. */
function withoutNulls(config: unknown): unknown {
  if (!isMap(config)) return config;
  return Object.fromEntries(Object.entries(config).filter(([, value]) => value !== null));
}
