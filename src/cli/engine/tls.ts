// TLS of a command's connections, from its flags.

import { resolve } from 'node:path';
import type { TlsOptions } from '../../sdk/worker/options.ts';
import type { TLS_FLAGS } from '../kernel/flags.ts';
import type { Terminal } from '../text/terminal.ts';

export interface TlsContext {
  readonly flags: { readonly [Name in keyof typeof TLS_FLAGS]: string | undefined };
  readonly terminal: Pick<Terminal, 'cwd'>;
}

/** `undefined` for an address without TLS. */
export function tlsOf(url: string, { flags, terminal }: TlsContext): TlsOptions | undefined {
  if (!/^(wss|https):/i.test(url)) return undefined;
  const path = (file: string | undefined) => (file === undefined ? undefined : resolve(terminal.cwd, file));
  return {
    ca_file: path(flags['ca-file']),
    cert_file: path(flags['cert-file']),
    key_file: path(flags['key-file']),
    server_name: flags['server-name'],
  };
}
