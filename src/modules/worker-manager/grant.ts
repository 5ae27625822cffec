// Parses the answer of an auth function (wire 8.2) strictly: anything but an exact answer is a refusal (X6).

import { ANONYMOUS, type Grant } from '../../core/access/access.ts';
import { type Pattern, readPattern } from '../../core/access/pattern.ts';
import { anything, fields, flag, listOf, mapOf, optional, text } from '../../core/config-fields/fields.ts';
import { checkValue, isMap } from '../../core/config-fields/fields-check.ts';
import { idOffence } from '../../protocol/frames/limits.ts';

export type ReadGrant =
  | { readonly ok: true; readonly grant: Grant }
  /** For the log. */
  | { readonly ok: false; readonly reason: string };

const authResult = fields({
  allowed_functions: optional(listOf(text())),
  forbidden_functions: optional(listOf(text())),
  allowed_trigger_types: optional(listOf(text())),
  allow_trigger_types: optional(listOf(text())),
  allow_trigger_type_registration: optional(flag()),
  allow_function_registration: optional(flag()),
  context: optional(anything()),
  function_registration_prefix: optional(text()),
  namespaces: optional(mapOf(listOf(text()))),
});

export function readGrant(answer: unknown): ReadGrant {
  if (!isMap(answer)) return refuse(`it answered with ${nameOf(answer)} instead of an object`);
  // A field that is null counts as absent, and an answer without any field is empty.
  if (Object.values(answer).every((value) => value === null)) return refuse('its answer is empty');
  const checked = checkValue(authResult, answer);
  if (!checked.ok) {
    const [problem] = checked.problems;
    return refuse(`${problem?.path.join('.') ?? 'its answer'}: ${problem?.message ?? 'has the wrong shape'}`);
  }
  const { value } = checked;
  if (value.context != null && !isMap(value.context)) return refuse('context: Must be a map.');
  const prefix = value.function_registration_prefix;
  const offence = prefix === undefined ? undefined : idOffence(prefix);
  if (offence !== undefined) return refuse(`function_registration_prefix: ${offence}`);
  const patterns = readPatterns(value.namespaces?.default ?? []);
  if (typeof patterns === 'string') return refuse(`namespaces.default: ${patterns}`);
  const types = value.allowed_trigger_types ?? value.allow_trigger_types;
  return {
    ok: true,
    grant: {
      allowed: new Set(value.allowed_functions ?? []),
      allowedPatterns: patterns,
      forbidden: new Set(value.forbidden_functions ?? []),
      triggerTypes: types === undefined ? undefined : new Set(types),
      mayRegisterFunctions: value.allow_function_registration ?? ANONYMOUS.mayRegisterFunctions,
      mayRegisterTriggerTypes: value.allow_trigger_type_registration ?? ANONYMOUS.mayRegisterTriggerTypes,
      functionPrefix: prefix,
      context: value.context ?? {},
    },
  };
}

function readPatterns(texts: readonly string[]): readonly Pattern[] | string {
  const patterns: Pattern[] = [];
  for (const one of texts) {
    const read = readPattern(one);
    if (!read.ok) return `The pattern ${read.reason}`;
    patterns.push(read.pattern);
  }
  return patterns;
}

function refuse(reason: string): { readonly ok: false; readonly reason: string } {
  return { ok: false, reason };
}

function nameOf(value: unknown): string {
  if (value === null || value === undefined) return 'nothing';
  return Array.isArray(value) ? 'a list' : `a ${typeof value}`;
}
