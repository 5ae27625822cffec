// TLS of the ports in a configuration, and how a program on this machine reaches its engine.

import { type LoadedConfig, modulesOf } from '../config/load.ts';
import { bareHost, hostInUrl } from '../core/access/origin.ts';
import { CertificateProblem, readCertificate, type Trust, trustFor } from '../effects/certificates.ts';
import { httpDeclaration } from '../modules/http/config.ts';
import { streamDeclaration } from '../modules/stream/config.ts';
import type { TlsConfig } from '../modules/tls-settings.ts';
import { workerManagerDeclaration } from '../modules/worker-manager/config.ts';
import { BRIDGE_PORT_DEFAULT } from '../protocol/frames/limits.ts';

/** Bound to every address of the machine. */
const ANY_ADDRESS: ReadonlySet<string> = new Set(['0.0.0.0', '::', '[::]']);

/** The worker port of the configuration, from this machine. */
export function ownEngine(config: LoadedConfig, nowMs: number): { readonly url: string; readonly trust: Trust } {
  const own = modulesOf(config, workerManagerDeclaration).find(({ config: { rbac } }) => rbac === undefined);
  const { host = '127.0.0.1', port = BRIDGE_PORT_DEFAULT, tls } = own?.config ?? {};
  const reached = ANY_ADDRESS.has(host) ? '127.0.0.1' : host;
  const place = `${hostInUrl(reached)}:${port === 0 ? BRIDGE_PORT_DEFAULT : port}`;
  if (tls === undefined) return { url: `ws://${place}`, trust: {} };
  return { url: `wss://${place}`, trust: trustOf(tls, bareHost(reached), nowMs) };
}

export interface PortWithTls {
  readonly module: string;
  readonly certFile: string;
  readonly keyFile: string;
}

export function portsWithTls(config: LoadedConfig): PortWithTls[] {
  return [workerManagerDeclaration, httpDeclaration, streamDeclaration].flatMap((declaration) =>
    modulesOf<{ readonly tls: TlsConfig | undefined }>(config, declaration).flatMap(({ name, config: { tls } }) =>
      tls === undefined ? [] : [{ module: name, certFile: tls.cert_file, keyFile: tls.key_file }],
    ),
  );
}

/** A certificate that cannot be used gives no trust; the start of the engine reports why. */
function trustOf(
  { cert_file: certFile, key_file: keyFile, ca_file: caFile }: TlsConfig,
  host: string,
  nowMs: number,
): Trust {
  try {
    return trustFor(readCertificate({ certFile, keyFile }, nowMs), caFile, host);
  } catch (error) {
    if (error instanceof CertificateProblem) return {};
    throw error;
  }
}
