// The options of the console server, from `svc console` or from its own command line.

import { readFileSync } from 'node:fs';
import { isLoopbackHost } from '../../core/access/origin.ts';
import type { CertificateFiles } from '../../effects/certificates.ts';
import type { TlsOptions } from '../../sdk/worker/options.ts';

export interface ConsoleOptions {
  readonly host: string;
  readonly port: number;
  readonly engineHost: string;
  readonly enginePort: number;
  readonly streamPort: number;
  readonly bridgePort: number;
  /** Those of these ports that have TLS. */
  readonly engineTls?: ReadonlySet<EnginePort>;
  /** Whom to trust there. */
  readonly trust?: TlsOptions;
  /** TLS of the pages. */
  readonly tls?: PagesTls | undefined;
  /** The token that browsers have to send and that the engine gets. `undefined`: none. */
  readonly token: string | undefined;
  readonly isReadOnly: boolean;
  readonly hasFlow: boolean;
  /** The name under which traces show the calls of its users. `undefined`: none. */
  readonly serviceName: string | undefined;
}

export type EnginePort = 'http' | 'streams' | 'workers';

export interface PagesTls extends CertificateFiles {
  readonly minVersion: 'TLSv1.2' | 'TLSv1.3';
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

const ENGINE_PORTS = ['http', 'streams', 'workers'] as const satisfies readonly EnginePort[];

/** `all`, or some of the ports in a list with commas; `undefined` for none. */
export function readEngineTls(text: string | undefined): ReadonlySet<EnginePort> {
  if (text === undefined) return new Set();
  if (text === 'all') return new Set(ENGINE_PORTS);
  const ports = text.split(',').map((name) => ENGINE_PORTS.find((port) => port === name.trim()));
  if (ports.every((port) => port !== undefined)) return new Set(ports);
  throw new ConsoleStartError(`--engine-tls is '${text}': expected all, or a list of ${ENGINE_PORTS.join(', ')}.`);
}

export interface PagesTlsFlags {
  readonly certFile: string | undefined;
  readonly keyFile: string | undefined;
  readonly minVersion: string | undefined;
}

/** `undefined`: the pages are served without TLS. */
export function readPagesTls({ certFile, keyFile, minVersion = 'TLSv1.2' }: PagesTlsFlags): PagesTls | undefined {
  if (certFile === undefined && keyFile === undefined) return undefined;
  if (certFile === undefined || keyFile === undefined) {
    throw new ConsoleStartError('--tls-cert-file and --tls-key-file are given together or not at all.');
  }
  if (minVersion === 'TLSv1.2' || minVersion === 'TLSv1.3') return { certFile, keyFile, minVersion };
  throw new ConsoleStartError(`--tls-min-version is '${minVersion}': expected TLSv1.2 or TLSv1.3.`);
}
