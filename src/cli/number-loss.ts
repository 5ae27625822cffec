// Numbers in JSON that was typed: those that this program, being JavaScript, could not hand on as they were written.

import { mayHoldUnfitNumber } from '../core/exact-json.ts';
import { usageFailure } from './failures.ts';

/** `what`: begins the message, such as `The payload from --payload`. */
export function refuseNumberLoss(json: string, what: string): void {
  const lost = firstLostNumber(json);
  if (lost === undefined) return;
  throw usageFailure(
    `${what} holds the number ${lost}, which would be sent as ${Number(lost)}.`,
    `Whole numbers are kept up to ${Number.MAX_SAFE_INTEGER}: write longer ones as texts, in quotes.`,
  );
}

/** Of valid JSON. */
export function firstLostNumber(json: string): string | undefined {
  if (!mayHoldUnfitNumber(json)) return undefined;
  for (const [token] of json.matchAll(TEXT_OR_NUMBER)) {
    if (!token.startsWith('"') && isLost(token)) return token;
  }
  return undefined;
}

function isLost(token: string): boolean {
  const value = Number(token);
  if (!Number.isFinite(value)) return true;
  // The digits that a double is written with are enough to read it again, as those of a moment in nanoseconds.
  return WHOLE.test(token) && BigInt(token) !== BigInt(value) && String(value) !== token;
}

const TEXT_OR_NUMBER = /"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*/g;
const WHOLE = /^-?\d+$/;
