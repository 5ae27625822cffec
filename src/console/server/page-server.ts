// The server of the pages, with TLS or without. With TLS it follows the files of its certificate.

import { createServer, type Server } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import { createSecureContext } from 'node:tls';
import { readCertificate } from '../../effects/certificates.ts';
import { systemClock } from '../../effects/clock.ts';
import { followFiles } from '../../effects/file-changes.ts';
import { type ConsoleOptions, ConsoleStartError, type PagesTls } from './options.ts';

export interface PageServer {
  readonly server: Server;
  /** Reads the certificate again. */
  refresh(): void;
  /** Ends the watch over the files. */
  stop(): void;
}

/** Throws a `ConsoleStartError`. `printLine` receives lines for the user who started the server. */
export function createPageServer({ tls }: ConsoleOptions, printLine: (line: string) => void): PageServer {
  if (tls === undefined) return { server: createServer(), refresh: () => {}, stop: () => {} };
  const first = contextOf(tls);
  if (typeof first === 'string') throw new ConsoleStartError(`The console cannot use its certificate: ${first}.`);
  const server = createSecureServer(first);
  const refresh = (): void => {
    const next = contextOf(tls);
    if (typeof next === 'string') printLine(`The console keeps its certificate: ${next}`);
    else server.setSecureContext(next);
  };
  return { server, refresh, stop: followFiles(() => [tls.certFile, tls.keyFile], systemClock, refresh) };
}

/** The options of the server, or why the certificate cannot be used. */
function contextOf({ minVersion, ...files }: PagesTls) {
  try {
    const { chain, key } = readCertificate(files, Date.now());
    const context = { cert: chain, key, minVersion };
    // The library refuses weak keys.
    createSecureContext(context);
    return context;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}
