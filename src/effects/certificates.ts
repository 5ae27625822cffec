// Reads a certificate and its key, and checks that a port can use them.

import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';

export interface CertificateFiles {
  readonly certFile: string;
  readonly keyFile: string;
}

/** A checked certificate. */
export interface Certificate extends CertificateFiles {
  /** The certificate, and those between it and its authority, in PEM form. */
  readonly chain: string;
  readonly key: string;
  /** What it is valid for: host names, also with a leading `*.`, and addresses. */
  readonly names: readonly string[];
  /** It is its own authority. */
  readonly isSelfSigned: boolean;
  /** Of the certificate of the chain that expires first. */
  readonly validFromMs: number;
  readonly expiresAtMs: number;
}

/** A file cannot be used. The text names the setting, the file and the reason. */
export class CertificateProblem extends Error {
  constructor(setting: string, file: string, reason: string) {
    super(`${setting} '${file}' ${reason}`);
    this.name = 'CertificateProblem';
  }
}

/** Throws a `CertificateProblem`. */
export function readCertificate({ certFile, keyFile }: CertificateFiles, nowMs: number): Certificate {
  const chainText = readPem('cert_file', certFile);
  const chain = readChain('cert_file', certFile, chainText);
  const [leaf] = chain;
  const keyText = readPem('key_file', keyFile);
  const key = readKey(keyFile, keyText);
  if (!leaf.checkPrivateKey(key)) {
    const isFurtherDown = chain.some((one) => one.checkPrivateKey(key));
    throw isFurtherDown
      ? new CertificateProblem('cert_file', certFile, 'must begin with the certificate that belongs to the key')
      : new CertificateProblem('key_file', keyFile, `does not belong to the certificate in '${certFile}'`);
  }
  const { validFromMs, expiresAtMs } = checkValidity(certFile, chain, nowMs);
  return {
    certFile,
    keyFile,
    chain: chainText,
    key: keyText,
    names: namesOf(leaf),
    isSelfSigned: leaf.subject === leaf.issuer && leaf.verify(leaf.publicKey),
    validFromMs,
    expiresAtMs,
  };
}

/** Certificates of authorities, in PEM form. Throws a `CertificateProblem`. */
export function readAuthorities(setting: string, file: string, nowMs: number): string {
  const text = readPem(setting, file);
  const valid = readChain(setting, file, text).filter((one) => Date.parse(one.validTo) > nowMs);
  if (valid.length === 0) throw new CertificateProblem(setting, file, 'holds only certificates that have expired');
  return text;
}

/** What a program needs to trust a server with this certificate. */
export interface Trust {
  /** Absolute. Absent: the authorities of the system. */
  readonly ca_file?: string;
  /** The name to check the certificate against. Absent: the host that the program connects to. */
  readonly server_name?: string;
}

/** `caFile`: of the authority, if it is known. `host`: the one to connect to. */
export function trustFor(certificate: Certificate, caFile: string | undefined, host: string): Trust {
  const authority = caFile ?? (certificate.isSelfSigned ? certificate.certFile : undefined);
  // Any label fits `*`.
  const name = isValidFor(certificate, host) ? undefined : certificate.names[0]?.replace(/^\*\./, 'svc.');
  return { ...(authority && { ca_file: resolve(authority) }), ...(name && { server_name: name }) };
}

/** Whether the certificate is valid for a host name or an address. */
function isValidFor({ chain }: Pick<Certificate, 'chain'>, host: string): boolean {
  const leaf = new X509Certificate(chain);
  return leaf.checkIP(host) !== undefined || leaf.checkHost(host) !== undefined;
}

export function namesOf({ subject, subjectAltName }: X509Certificate): string[] {
  const listed = (subjectAltName ?? '')
    .split(', ')
    .flatMap((entry) => /^(?:DNS|IP Address):(.+)$/.exec(entry)?.[1] ?? []);
  if (listed.length > 0) return listed;
  const common = /^CN=(.+)$/m.exec(subject ?? '')?.[1];
  return common === undefined ? [] : [common];
}

function readPem(setting: string, file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw new CertificateProblem(setting, file, `cannot be read (${codeOf(error)})`);
  }
}

const CERTIFICATES = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;

function readChain(setting: string, file: string, text: string): [X509Certificate, ...X509Certificate[]] {
  const [first, ...others] = text.match(CERTIFICATES) ?? [];
  if (first === undefined) {
    throw new CertificateProblem(setting, file, "holds no certificate in PEM form ('-----BEGIN CERTIFICATE-----')");
  }
  try {
    return [new X509Certificate(first), ...others.map((pem) => new X509Certificate(pem))];
  } catch (error) {
    throw new CertificateProblem(setting, file, `holds a damaged certificate (${codeOf(error)})`);
  }
}

function readKey(file: string, text: string): KeyObject {
  if (/^-----BEGIN ENCRYPTED PRIVATE KEY-----|^Proc-Type: 4,ENCRYPTED/m.test(text)) {
    throw new CertificateProblem(
      'key_file',
      file,
      'is encrypted; store the key without a passphrase, readable for the engine alone',
    );
  }
  try {
    return createPrivateKey(text);
  } catch {
    throw new CertificateProblem('key_file', file, "holds no private key in PEM form ('-----BEGIN PRIVATE KEY-----')");
  }
}

function checkValidity(file: string, chain: readonly X509Certificate[], nowMs: number) {
  const [first, ...others] = chain.map(({ validFrom, validTo }) => ({
    validFromMs: Date.parse(validFrom),
    expiresAtMs: Date.parse(validTo),
  }));
  if (first === undefined) throw new Error('A chain has at least one certificate');
  const soonest = others.reduce((one, other) => (other.expiresAtMs < one.expiresAtMs ? other : one), first);
  const late = chain.map(({ validFrom }) => Date.parse(validFrom)).find((fromMs) => fromMs > nowMs);
  if (late !== undefined) {
    throw new CertificateProblem('cert_file', file, `is not valid before ${new Date(late).toISOString()}`);
  }
  if (soonest.expiresAtMs <= nowMs) {
    const which = soonest === first ? 'expired' : 'holds a certificate of an authority that expired';
    throw new CertificateProblem('cert_file', file, `${which} at ${new Date(soonest.expiresAtMs).toISOString()}`);
  }
  return soonest;
}

function codeOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return 'code' in error ? String(error.code) : error.message;
}
