// What can be said of a worker in a page. A page cannot set headers or hear signals, so those options are not there.

import { SvcError } from '../sdk/errors.ts';
import type { WorkerOptions } from '../sdk/options.ts';

/**
 * Options of `registerWorker`.
 *
 * @example
 * import { registerWorker, type BrowserOptions } from 'svc-browser-sdk';
 *
 * const options: BrowserOptions = { worker_name: 'shop page', auth: async () => (await fetch('/token')).text() };
 * registerWorker('wss://svc.example:49135', options);
 */
export interface BrowserOptions extends Omit<WorkerOptions, 'headers' | 'token' | 'wire' | 'handle_signals'> {
  /**
   * The token for the auth function of the engine's port, asked for before each connection. It travels as the
   * subprotocols `Authorization, <token>`, which hold letters, digits and !#$%&'*+.^_`|~- only: base64url fits.
   */
  readonly auth?: (() => string | Promise<string>) | undefined;
}

/** Whoever writes no types must not believe that a token is sent where none is. */
export function refuseForeign(options: object): void {
  for (const name of ['headers', 'token', 'wire']) {
    if (!(name in options)) continue;
    throw new SvcError('INVALID_ARGUMENTS', `${name}: a page cannot choose it; give a token as auth: () => token`);
  }
}
