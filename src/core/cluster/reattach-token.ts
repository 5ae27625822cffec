// A reattach token names the engine that gave it, so that another engine of the cluster knows whom to ask about it.
//
// It keeps the form of a UUID: clients may check it. The last 12 of its 32 digits are of the engine; 74 random bits
// remain.

import { createHash } from 'node:crypto';

const DIGITS = 12;

/** What the tokens of an engine end with. */
export function tokenEndOf(engineId: string): string {
  return createHash('sha256').update(engineId).digest('hex').slice(0, DIGITS);
}

/** Without an engine id the token is the UUID as it is. */
export function tokenOf(uuid: string, engineId: string): string {
  return engineId === '' ? uuid : uuid.slice(0, -DIGITS) + tokenEndOf(engineId);
}
