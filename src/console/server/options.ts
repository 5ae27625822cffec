// The options of the console server, from `svc console` or from its own command line.

import { readFileSync } from 'node:fs';
import { isLoopbackHost } from '../../core/access/origin.ts';

export interface ConsoleOptions {
  readonly host: string;
  readonly port: number;
  readonly engineHost: string;
  readonly enginePort: number;
  readonly streamPort: number;
  readonly bridgePort: number;
  /** The token that browsers have to send and that the engine gets. `undefined`: none. */
  readonly token: string | undefined;
  readonly isReadOnly: boolean;
  readonly hasFlow: boolean;
  /** The name under which traces show the calls of its users. `undefined`: none. */
  readonly serviceName: string | undefined;
}

/** The console server cannot start. The text is for the user. */
export class ConsoleStartError extends Error {
  readonly hint: string | undefined;
  /** Whether the options are wrong, rather than the environment. */
  readonly isUsage: boolean;

  constructor(message: string, { hint, isUsage = true }: { hint?: string; isUsage?: boolean } = {}) {
    super(message);
    this.name = 'ConsoleStartError';
    this.hint = hint;
    this.isUsage = isUsage;
  }
}

/** A client that reaches the port from elsewhere has the full power of the console (X23, APP-4). */
export function checkOptions(options: ConsoleOptions): void {
  const { host, token } = options;
  if (isLoopbackHost(host) || token !== undefined) return;
  throw new ConsoleStartError(`The console does not listen on '${host}' without a token.`, {
    hint: 'Give the bridge token of the engine with --token-file <file> or in the variable SVC_TOKEN.',
  });
}

/** `undefined` without a file and without the variable. */
export function readToken(
  file: string | undefined,
  env: Readonly<Record<string, string | undefined>>,
): string | undefined {
  if (file === undefined) return env.SVC_TOKEN || undefined;
  let text: string;
  try {
    text = readFileSync(file, 'utf8').trim();
  } catch (error) {
    const reason = error instanceof Error && 'code' in error ? error.code : error;
    throw new ConsoleStartError(`Cannot read the token from ${file} (${reason}).`);
  }
  if (text === '') throw new ConsoleStartError(`The token in ${file} is empty.`);
  return text;
}

/** `1`, `true`, `yes` and `on`, ignoring case. */
export function isOn(value: string | undefined): boolean {
  return /^(1|true|yes|on)$/i.test(value ?? '');
}
