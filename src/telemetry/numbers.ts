// Numbers of a payload: absent ones get their default; those out of range are refused with the range.

import { Refusal } from '../core/calls/refusal.ts';

export interface NumberRange {
  readonly min: number;
  readonly max: number;
  readonly isWhole?: boolean;
}

/** Unix milliseconds up to the year 3000: the limit catches nanoseconds given by mistake. */
export const TIME: NumberRange = { min: 0, max: 32_503_680_000_000 };
export const COUNT: NumberRange = { min: 0, max: 10_000_000, isWhole: true };

export function optionalNumber(
  name: string,
  value: number | null | undefined,
  { min, max, isWhole = false }: NumberRange,
): number | undefined {
  if (value === undefined || value === null) return undefined;
  if (value >= min && value <= max && (!isWhole || Number.isInteger(value))) return value;
  const kind = isWhole ? 'a whole number' : 'a number';
  throw new Refusal('BAD_REQUEST', `'${name}' must be ${kind} from ${min} to ${max}, found ${value}`);
}

export function numberOr(name: string, value: number | null | undefined, fallback: number, range: NumberRange): number {
  return optionalNumber(name, value, range) ?? fallback;
}

/** A start after its end is a mistake, not an empty result. */
export function timeRange(payload: { start_time?: number | null; end_time?: number | null }): {
  readonly startTime: number | undefined;
  readonly endTime: number | undefined;
} {
  const startTime = optionalNumber('start_time', payload.start_time, TIME);
  const endTime = optionalNumber('end_time', payload.end_time, TIME);
  if (startTime !== undefined && endTime !== undefined && startTime > endTime) {
    throw new Refusal('BAD_REQUEST', `'start_time' (${startTime}) must not be after 'end_time' (${endTime})`);
  }
  return { startTime, endTime };
}
