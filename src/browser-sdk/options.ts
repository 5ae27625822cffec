// Options of a worker in a page. A page cannot set headers or receive signals, so those options do not exist here.

import { SvcError } from '../sdk/calls/errors.ts';
import type { WorkerOptions } from '../sdk/worker/options.ts';

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
   * Returns the token for the auth function of the engine's port; called before each connection. The token travels as
   * the subprotocols `Authorization, <token>`, whose only characters are letters, digits and !#$%&'*+.^_`|~-: base64url
   * fits.
   */
  readonly auth?: (() => string | Promise<string>) | undefined;
}

/** Without types, a user could believe that `token` or `headers` are sent: refuse them. */
export function refuseForeign(options: object): void {
  for (const name of ['headers', 'token', 'wire']) {
    if (!(name in options)) continue;
    throw new SvcError('INVALID_ARGUMENTS', `${name}: a page cannot choose it; give a token as auth: () => token`);
  }
}
