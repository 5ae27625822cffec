// Answers on their way to a command that prints them: of a number that this program, being JavaScript, does not print
// as it was stored, somebody is told. The form of the wire is JSON then, in which such a number can be seen.

import type { Platform } from '../sdk/platform.ts';
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

/** What becomes of it; one that is too large for a double is printed as null. */
export function printedNumber(number: string): string {
  return JSON.stringify(Number(number));
}
