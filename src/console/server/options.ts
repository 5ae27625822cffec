// What the console server is told: by `svc console`, or by its own command line.

import { readFileSync } from 'node:fs';
import { isLoopbackHost } from '../../core/origin.ts';

export interface ConsoleOptions {
  readonly host: string;
  readonly port: number;
  readonly engineHost: string;
  readonly enginePort: number;
  readonly streamPort: number;
  readonly bridgePort: number;
  /** What browsers have to show, and what the engine is shown; `undefined`: nothing. */
  readonly token: string | undefined;
  readonly isReadOnly: boolean;
  readonly hasFlow: boolean;
  /** Under which calls of its users stand in traces; `undefined`: under none. */
  readonly serviceName: string | undefined;
}

/** The console server cannot start; the text is for the user. */
export class ConsoleStartError extends Error {
  readonly hint: string | undefined;
  /** Whether what was asked for is wrong, and not the world. */
  readonly isUsage: boolean;

  constructor(message: string, { hint, isUsage = true }: { hint?: string; isUsage?: boolean } = {}) {
    super(message);
    this.name = 'ConsoleStartError';
    this.hint = hint;
    this.isUsage = isUsage;
  }
}

/** Whoever reaches the port from elsewhere has the full power of the console (X23, APP-4). */
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

/** `1`, `true`, `yes` and `on`, in any case. */
export function isOn(value: string | undefined): boolean {
  return /^(1|true|yes|on)$/i.test(value ?? '');
}
