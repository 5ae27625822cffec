// A first payload, made from a schema: its required fields and its fields with a default (CLI-21). It is a help for the
// user; nothing is validated.

import { isRecord, type JsonRecord, textsIn } from '../../text/records.ts';

/** Schemas may contain themselves. */
const NESTING_MAX = 5;

/** An object at least: most payloads are one. */
export function payloadSkeleton(schema: unknown): unknown {
  return isRecord(schema) ? (skeletonOf(schema, 0) ?? {}) : {};
}

/** The given values, set over those of the skeleton. */
export function fillSkeleton(skeleton: unknown, given: unknown): unknown {
  return isRecord(skeleton) && isRecord(given) ? { ...skeleton, ...given } : given;
}

function skeletonOf(schema: JsonRecord, depth: number): unknown {
  const examples = Array.isArray(schema.examples) ? schema.examples : [];
  const choices = Array.isArray(schema.enum) ? schema.enum : [];
  for (const known of [schema.default, schema.const, examples[0], choices[0]]) if (known !== undefined) return known;
  const [type] = Array.isArray(schema.type) ? textsIn(schema, 'type') : [schema.type];
  switch (type) {
    case 'string':
      return '';
    case 'number':
    case 'integer':
      return typeof schema.minimum === 'number' ? schema.minimum : 0;
    case 'boolean':
      return false;
    case 'array':
      return [];
    case 'null':
      return null;
    default:
      return isRecord(schema.properties) || type === 'object' ? objectOf(schema, depth) : undefined;
  }
}

function objectOf(schema: JsonRecord, depth: number): JsonRecord {
  if (!isRecord(schema.properties) || depth >= NESTING_MAX) return {};
  const required = textsIn(schema, 'required');
  const entries = Object.entries(schema.properties).flatMap(([key, property]) => {
    if (!isRecord(property) || !(required.includes(key) || property.default !== undefined)) return [];
    return [[key, skeletonOf(property, depth + 1) ?? null]];
  });
  return Object.fromEntries(entries);
}
