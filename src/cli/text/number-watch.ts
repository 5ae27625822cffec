// Finds numbers in answers that JavaScript prints with other digits than stored, for a warning. The connection uses
// JSON frames then, in which the original digits are visible.

import type { Platform } from '../../sdk/worker/platform.ts';
import { firstLostNumber } from './number-loss.ts';

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
