// TLS on a port, independent of the library that opens it.

import type { Certificate } from '../effects/certificates.ts';

export type TlsVersion = 'TLSv1.2' | 'TLSv1.3';

export interface TlsOptions {
  readonly certificate: Certificate;
  readonly minVersion: TlsVersion;
  /** `undefined`: clients are not asked for a certificate. */
  readonly clients: ClientCertificates | undefined;
}

export interface ClientCertificates {
  /** The authorities that issue them, in PEM form. */
  readonly authorities: string;
  /** Otherwise a client may also have none. */
  readonly isRequired: boolean;
}

/** The verified certificate of a client. */
export interface ClientCertificate {
  /** `CN=orders, O=Example`. */
  readonly subject: string;
  readonly issuer: string;
  /** SHA-256 over the certificate, in hexadecimal. */
  readonly fingerprint: string;
  readonly serial_number: string;
  readonly names: readonly string[];
}

/** A port cannot use these TLS settings or this certificate. The text is for the user. */
export class TlsError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'TlsError';
  }
}
