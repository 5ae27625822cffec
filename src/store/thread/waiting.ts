// How much may wait for a store at once. Beyond it callers get OVERLOADED: memory is not a queue (guarantees 1).

import type { ErrorBody } from '../../protocol/frames/frames.ts';

export const WAITING_BYTES_MAX = 128 * 1024 * 1024;
const WAITING_COMMANDS_MAX = 65_536;

export const OVERLOADED: ErrorBody = { code: 'OVERLOADED', message: 'Too much is waiting for the store' };

export class Waiting {
  commands = 0;
  #bytes = 0;

  /** Whether there was room for one more. */
  enter(bytes: number): boolean {
    if (this.commands >= WAITING_COMMANDS_MAX || this.#bytes + bytes > WAITING_BYTES_MAX) return false;
    this.commands++;
    this.#bytes += bytes;
    return true;
  }

  leave(commands: number, bytes: number): void {
    this.commands -= commands;
    this.#bytes -= bytes;
  }
}
