// Values of OTLP/JSON as workers send them: anything may be missing, of another type, or nested (wire 1.11).

import type { Pairs } from '../spans/span-records.ts';

export type Fields = Readonly<Record<string, unknown>>;

const NO_FIELDS: Fields = {};
/** Attributes may contain lists and objects, which contain further ones. */
const NESTING_MAX = 8;
const MEMBERS_MAX = 1_000;

/** The result of `JSON.parse`: it has no getters, so it is read without a copy. */
export function fieldsOf(value: unknown): Fields {
  return isFields(value) ? value : NO_FIELDS;
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

export function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

/** 64-bit numbers come as texts or as numbers. */
export function numberOf(value: unknown): number | undefined {
  const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
  return typeof number === 'number' && Number.isFinite(number) ? number : undefined;
}

/** Further apart are no two clocks that are looked after. */
const AHEAD_MS_MAX = 10_000;

/**
 * A time of another clock. One that is further ahead is taken for the time of arrival: where the oldest record leaves
 * first, a record of the year 2500 would stay, and each new one would leave in its place.
 */
export function notAhead(nano: number, nowMs: number): number {
  return nano <= (nowMs + AHEAD_MS_MAX) * 1e6 ? nano : nowMs * 1e6;
}

/** Lower-case hexadecimal of that length, not all zeros; `undefined` for anything else. */
export function idOf(value: unknown, digits: 16 | 32): string | undefined {
  if (typeof value !== 'string' || value.length !== digits) return undefined;
  const id = value.toLowerCase();
  return /^[\da-f]+$/.test(id) && /[^0]/.test(id) ? id : undefined;
}

/** An attribute's value as JSON. */
export function jsonValueOf(given: unknown, depth = 0): unknown {
  const value = fieldsOf(given);
  if (depth > NESTING_MAX) return TOO_DEEP;
  if (value.stringValue !== undefined) return textOf(value.stringValue);
  if (value.boolValue !== undefined) return value.boolValue === true;
  if (value.intValue !== undefined) return numberOf(value.intValue) ?? null;
  if (value.doubleValue !== undefined) return numberOf(value.doubleValue) ?? null;
  if (value.bytesValue !== undefined) return textOf(value.bytesValue);
  if (value.arrayValue !== undefined) {
    const items = listOf(fieldsOf(value.arrayValue).values).slice(0, MEMBERS_MAX);
    return items.map((item) => jsonValueOf(item, depth + 1));
  }
  if (value.kvlistValue !== undefined) return recordOf(fieldsOf(value.kvlistValue).values, depth + 1);
  return null;
}

/** Attributes by key. A repeated key keeps its last value. */
export function recordOf(attributes: unknown, depth = 0): Record<string, unknown> {
  const record: Record<string, unknown> = Object.create(null);
  for (const item of listOf(attributes).slice(0, MEMBERS_MAX)) {
    const { key, value } = fieldsOf(item);
    if (typeof key === 'string' && key !== '') record[key] = jsonValueOf(value, depth);
  }
  return record;
}

/** Attributes in their order, values as texts. */
export function pairsOf(attributes: unknown): Pairs {
  const pairs: Pairs = [];
  for (const item of listOf(attributes).slice(0, MEMBERS_MAX)) {
    const { key, value } = fieldsOf(item);
    if (typeof key === 'string' && key !== '') pairs.push([key, textForm(jsonValueOf(value))]);
  }
  return pairs;
}

export function textForm(value: unknown): string {
  if (typeof value === 'string') return value;
  return value === null || value === undefined ? '' : (JSON.stringify(value) ?? '');
}

const TOO_DEEP = '[too deep]';
