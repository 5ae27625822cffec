// Finds numbers in JSON that JavaScript cannot represent: in input, where they are refused because they would be sent
// with other digits, and in answers, where a warning says that they are printed with other digits than stored.

import { mayHoldUnfitNumber } from '../../core/calls/exact-json.ts';
import type { Platform } from '../../sdk/worker/platform.ts';
import { usageFailure } from '../kernel/failures.ts';

/** `what`: begins the message, such as `The payload from --payload`. */
export function refuseNumberLoss(json: string, what: string): void {
  const lost = firstLostNumber(json);
  if (lost === undefined) return;
  throw usageFailure(
    `${what} holds the number ${lost}, which would be sent as ${Number(lost)}.`,
    `Whole numbers are kept up to ${Number.MAX_SAFE_INTEGER}: write longer ones as text, in quotes.`,
  );
}

/** The text must be valid JSON. */
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
  // The shortest digits of a double identify it, even when more were written, as in a time in nanoseconds.
  return WHOLE.test(token) && BigInt(token) !== BigInt(value) && String(value) !== token;
}

const TEXT_OR_NUMBER = /"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*/g;
const WHOLE = /^-?\d+$/;

export function withNumberWatch(platform: Platform, lost: (number: string) => void): Platform {
  return {
    ...platform,
    requestedWire: () => 'json',
    openSocket: (request, events) =>
      platform.openSocket(request, {
        onMessage(message) {
          const number = typeof message === 'string' ? firstLostNumber(message) : undefined;
          if (number !== undefined) lost(number);
          events.onMessage(message);
        },
        onAlive: () => events.onAlive(),
        onClose: (closure) => events.onClose(closure),
      }),
  };
}

/** The printed number; a number too large for a double is printed as null. */
export function printedNumber(number: string): string {
  return JSON.stringify(Number(number));
}
