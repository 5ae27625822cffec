// The port of a module, with TLS or without: opens it, follows the files of its certificate, and reports its health.

import { isDeepStrictEqual } from 'node:util';
import { bareHost, hostInUrl } from '../core/access/origin.ts';
import { expiryWarning } from '../effects/certificate-expiry.ts';
import {
  type Certificate,
  CertificateProblem,
  readAuthorities,
  readCertificate,
  trustFor,
} from '../effects/certificates.ts';
import { followFiles } from '../effects/file-changes.ts';
import { StartFailure } from '../effects/start-failure.ts';
import { TlsError, type TlsOptions } from '../transport/tls.ts';
import type { Listener } from '../transport/transport.ts';
import type { ListenerAddress, ModuleContext, ModuleHealth, Reconfiguration } from './module.ts';
import type { TlsConfig } from './tls-settings.ts';

export interface ListeningPortOptions {
  /** Of the module, for messages. */
  readonly module: string;
  readonly host: string;
  readonly port: number;
  readonly tls: TlsConfig | undefined;
}

export type ReadTls = { readonly ok: true; readonly tls: TlsOptions } | { readonly ok: false; readonly reason: string };

interface PortHealth {
  readonly status: ModuleHealth['status'];
  readonly details?: object;
}

export class ListeningPort {
  readonly #options: ListeningPortOptions;
  readonly #clock: ModuleContext['clock'];
  readonly #logger: ModuleContext['logger'];
  #config: TlsConfig | undefined;
  #tls: TlsOptions | undefined;
  #listener: Listener | undefined;
  #stopFollowing: (() => void) | undefined;
  /** Why the files that are there now are not in use. */
  #problem: string | undefined;

  constructor(options: ListeningPortOptions, { clock, logger }: Pick<ModuleContext, 'clock' | 'logger'>) {
    this.#options = options;
    this.#clock = clock;
    this.#logger = logger;
    this.#config = options.tls;
  }

  /** Rejects with a `StartFailure` if the port cannot have its TLS, else as `listen` does. */
  async open(listen: (tls: TlsOptions | undefined) => Promise<Listener>): Promise<void> {
    const config = this.#config;
    if (config === undefined) {
      this.#listener = await listen(undefined);
      return;
    }
    const read = readTls(config, this.#clock.nowMs());
    if (!read.ok) throw this.#cannotOpen(read.reason);
    try {
      this.#listener = await listen(read.tls);
    } catch (error) {
      throw error instanceof TlsError ? this.#cannotOpen(error.message) : error;
    }
    this.#tls = read.tls;
    this.#stopFollowing = followFiles(
      () => filesOf(this.#config ?? config),
      this.#clock,
      () => this.#follow(),
    );
  }

  stopAccepting(): void {
    this.#listener?.stopAccepting();
  }

  close(): void {
    this.#stopFollowing?.();
    this.#listener?.close();
  }

  /** The same TLS settings, with the files as they are now. */
  refresh(): Promise<Reconfiguration> {
    return this.reconfigure(this.#config);
  }

  /** Other TLS settings for new connections. */
  async reconfigure(config: TlsConfig | undefined): Promise<Reconfiguration> {
    if ((config === undefined) !== (this.#config === undefined)) {
      return { ok: false, reason: 'whether there is tls can only change with a new start of the engine' };
    }
    if (config === undefined) return { ok: true, commit: () => {} };
    if (config.client_certificates !== this.#config?.client_certificates) {
      return { ok: false, reason: 'tls.client_certificates can only change with a new start of the engine' };
    }
    const read = readTls(config, this.#clock.nowMs());
    if (!read.ok) return { ok: false, reason: `tls: ${read.reason}` };
    const isSame = isDeepStrictEqual(read.tls, this.#tls);
    try {
      const replace = isSame ? () => {} : this.#listener?.prepareTls(read.tls);
      return {
        ok: true,
        changes: isSame ? [] : [`certificate valid until ${dateOf(read.tls.certificate)}`],
        commit: () => {
          replace?.();
          this.#config = config;
          this.#tls = read.tls;
          this.#problem = undefined;
        },
      };
    } catch (error) {
      if (error instanceof TlsError) return { ok: false, reason: `tls: ${error.message}` };
      throw error;
    }
  }

  health(): PortHealth {
    if (this.#listener === undefined) return { status: 'unhealthy' };
    if (this.#tls === undefined) return { status: 'healthy' };
    const { certificate } = this.#tls;
    const reason = this.#problem ?? expiryWarning(certificate, this.#clock.nowMs());
    return {
      status: reason === undefined ? 'healthy' : 'degraded',
      details: {
        tls: { cert_file: certificate.certFile, names: certificate.names, expires_at: certificate.expiresAtMs },
        ...(reason !== undefined && { reason }),
      },
    };
  }

  /** `scheme`: that without TLS. */
  address(name: string, scheme: 'ws' | 'http'): ListenerAddress {
    const { host, port } = this.#options;
    const place = `${hostInUrl(host)}:${this.#listener?.port ?? port}`;
    if (this.#config === undefined) return { name, address: `${scheme}://${place}` };
    return {
      name,
      address: `${scheme}s://${place}`,
      tls: this.#tls ? trustFor(this.#tls.certificate, this.#config.ca_file, bareHost(host)) : {},
    };
  }

  #follow(): void {
    this.refresh().then((answer) => {
      const { module } = this.#options;
      if (!answer.ok) {
        this.#problem = `The files of tls changed and cannot be used; the port keeps its certificate: ${answer.reason}`;
        this.#logger.error(`${module}: ${this.#problem}`);
        return;
      }
      answer.commit();
      for (const change of answer.changes ?? []) this.#logger.info(`${module}: ${change}`);
    });
  }

  #cannotOpen(reason: string): StartFailure {
    return new StartFailure(78, `${this.#options.module} cannot open its port with tls: ${reason}`);
  }
}

export function readTls(config: TlsConfig, nowMs: number): ReadTls {
  const { cert_file: certFile, key_file: keyFile, ca_file: caFile, min_version: minVersion } = config;
  const { client_certificates: asked = 'none', client_ca_file: clientCaFile } = config;
  try {
    const certificate = readCertificate({ certFile, keyFile }, nowMs);
    if (caFile !== undefined) readAuthorities('ca_file', caFile, nowMs);
    const authorities = clientCaFile === undefined ? '' : readAuthorities('client_ca_file', clientCaFile, nowMs);
    const clients = asked === 'none' ? undefined : { authorities, isRequired: asked === 'required' };
    return { ok: true, tls: { certificate, minVersion, clients } };
  } catch (error) {
    if (error instanceof CertificateProblem) return { ok: false, reason: error.message };
    throw error;
  }
}

function filesOf({ cert_file, key_file, client_ca_file }: TlsConfig): string[] {
  return [cert_file, key_file, client_ca_file ?? []].flat();
}

function dateOf({ expiresAtMs }: Certificate): string {
  return new Date(expiresAtMs).toISOString();
}
