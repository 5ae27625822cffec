// Update operations as they are typed: `increment:count:1`, `set:name:Ann`, `merge:address:{"city":"Bonn"}`.

import { nearestWords } from '../core/nearest.ts';
import type { UpdateOp } from '../sdk/update-ops.ts';
import { usageFailure } from './failures.ts';
import { refuseNumberLoss } from './number-loss.ts';

const TYPES = ['set', 'merge', 'increment', 'decrement', 'append', 'remove'] as const;

/** Path and value are what stands between and behind the first two colons; without a path, the whole value is meant. */
export function parseUpdateOp(typed: string): UpdateOp {
  const [type = '', path = '', ...rest] = typed.split(':');
  const value = rest.length === 0 ? undefined : rest.join(':');
  switch (type) {
    case 'set':
    case 'merge':
    case 'append':
      if (value === undefined) throw usageFailure(`--op ${typed} lacks a value: expected ${type}:<path>:<value>.`);
      return { type, path, value: parseValue(value, typed) };
    case 'increment':
    case 'decrement':
      return { type, path, by: parseStep(value ?? '1', typed) };
    case 'remove':
      if (value !== undefined) throw usageFailure(`--op ${typed} has a value: expected remove:<path>.`, FROM_FILE);
      return { type, path };
    default: {
      const [meant] = nearestWords(type, TYPES);
      const advice = meant === undefined ? `Expected one of ${TYPES.join(', ')}.` : `Did you mean ${meant}:…?`;
      throw usageFailure(`--op ${typed}: there is no operation '${type}'.`, advice);
    }
  }
}

/** JSON where it is JSON, else the text itself; what begins like a list, an object or a quoted text has to be one. */
function parseValue(text: string, typed: string): unknown {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    if (!/^\s*[[{"]/.test(text)) return text;
    const reason = error instanceof Error ? error.message : String(error);
    throw usageFailure(`--op ${typed}: the value is not valid JSON: ${reason}.`, FROM_FILE);
  }
  refuseNumberLoss(text, `--op ${typed}`);
  return value;
}

function parseStep(text: string, typed: string): number {
  const step = /^[-+]?\d{1,16}$/.test(text) ? Number(text) : Number.NaN;
  if (Number.isSafeInteger(step)) return step;
  throw usageFailure(`--op ${typed}: '${text}' is no whole number.`);
}

const FROM_FILE = 'Names with colons, paths of several segments and long values go into a file: --ops @file';
