// TLS of connections to an engine: which authorities are trusted, and what a failed check means for the user.

import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { type ConnectionOptions, checkServerIdentity, type PeerCertificate } from 'node:tls';
import { SvcError } from '../calls/errors.ts';
import type { TlsOptions } from '../worker/options.ts';

/** The options of `tls.connect`, with the files as they are now. Throws an `SvcError` that names the file. */
export function connectionOptions({ ca_file, cert_file, key_file, server_name }: TlsOptions): ConnectionOptions {
  const isName = server_name !== undefined && isIP(server_name) === 0;
  return {
    ...(ca_file !== undefined && { ca: readPem('ca_file', ca_file) }),
    ...(cert_file !== undefined && { cert: readPem('cert_file', cert_file) }),
    ...(key_file !== undefined && { key: readPem('key_file', key_file) }),
    ...(isName && { servername: server_name }),
    checkServerIdentity: (host, certificate) => identityOffence(server_name ?? host, certificate),
    // The environment of the process must not switch the check off.
    rejectUnauthorized: true,
  };
}

/** Missing options from the environment: the authority for any engine, the rest only for the one at `SVC_URL`. */
export function withTlsOfEnvironment(
  options: TlsOptions | undefined,
  isOwnEngine: boolean,
  env: Readonly<Record<string, string | undefined>>,
): TlsOptions {
  const ofEngine = isOwnEngine
    ? { cert_file: env.SVC_CERT_FILE, key_file: env.SVC_KEY_FILE, server_name: env.SVC_SERVER_NAME }
    : {};
  const given = Object.entries({ ca_file: env.SVC_CA_FILE, ...ofEngine }).filter(([, value]) => value);
  return { ...Object.fromEntries(given), ...options };
}

/** Node 22.23 finds no IPv6 address in any certificate. */
function identityOffence(host: string, certificate: PeerCertificate): Error | undefined {
  if (isIP(host) === 0) return checkServerIdentity(host, certificate);
  const parsed = new X509Certificate(certificate.raw);
  if (parsed.checkIP(host) !== undefined) return undefined;
  const names = parsed.subjectAltName ?? parsed.subject;
  return Object.assign(new Error(`The certificate is not valid for ${host}, only for ${names}`), { code: MISNAMED });
}

const MISNAMED = 'ERR_TLS_CERT_ALTNAME_INVALID';

const UNTRUSTED = [
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
];

/** What the user can do about a failed dial; `undefined`: nothing that has to do with TLS. */
export function tlsAdvice(error: unknown, isSecure: boolean): string | undefined {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  if (UNTRUSTED.includes(code)) return 'name the authority of the engine in tls.ca_file or SVC_CA_FILE';
  if (code === MISNAMED) return 'use a host of the certificate, or name one in tls.server_name or SVC_SERVER_NAME';
  if (code === 'ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED' || code === 'ERR_SSL_SSLV3_ALERT_HANDSHAKE_FAILURE') {
    return 'the engine may require a certificate: tls.cert_file and tls.key_file';
  }
  if (
    isSecure &&
    (code === 'ERR_SSL_WRONG_VERSION_NUMBER' || code === 'EPROTO' || code === 'ERR_SSL_PACKET_LENGTH_TOO_LONG')
  ) {
    return 'the port has no TLS: use ws://';
  }
  if (!isSecure && code === 'ECONNRESET') return 'a port with TLS needs wss://';
  return undefined;
}

function readPem(option: string, file: string): Buffer {
  try {
    return readFileSync(file);
  } catch (error) {
    const reason = error instanceof Error && 'code' in error ? error.code : error;
    throw new SvcError('INVALID_ARGUMENTS', `tls.${option}: cannot read ${file} (${reason})`);
  }
}
