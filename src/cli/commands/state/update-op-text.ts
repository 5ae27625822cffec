// Update operations in text form: `increment:count:1`, `set:name:Ann`, `merge:address:{"city":"Bonn"}`.

import { nearestWords } from '../../../core/config-fields/nearest.ts';
import type { UpdateOp } from '../../../sdk/data/update-ops.ts';
import { usageFailure } from '../../kernel/failures.ts';
import { refuseNumberLoss } from '../../text/number-loss.ts';

const TYPES = ['set', 'merge', 'increment', 'decrement', 'append', 'remove'] as const;

/** The path is between the first two colons and the value follows them; an empty path means the whole value. */
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

/** Valid JSON is parsed; other text is a string. Text that begins like a list, an object or a string must be JSON. */
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
  throw usageFailure(`--op ${typed}: '${text}' is not a whole number.`);
}

const FROM_FILE = 'For names with colons, paths of several segments and long values use a file: --ops @file';
