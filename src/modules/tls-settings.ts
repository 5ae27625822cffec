// The settings `tls` of ports.

import { fields, oneOf, optional, text, type ValueOf } from '../core/config-fields/fields.ts';
import type { FieldProblem } from '../core/config-fields/fields-check.ts';

const PORT_TLS = {
  cert_file: text({
    help: "Its certificate and those up to the authority's, PEM; relative to where the engine starts",
  }),
  key_file: text({ help: 'Private key of the certificate, PEM, without a passphrase' }),
  ca_file: optional(text({ help: 'Authority that issued cert_file; programs that the engine starts trust only it' })),
  min_version: oneOf(['TLSv1.2', 'TLSv1.3'], {
    default: 'TLSv1.2',
    help: 'Lowest version that clients may speak; TLSv1.3 needs SVC_TRANSPORT=ws',
  }),
};

const HELP = 'Encrypts the port; clients use wss:// or https://';

export const TLS_FIELD = optional(fields(PORT_TLS), HELP);

/** Of ports that can also ask their clients for certificates. */
export const WORKER_TLS_FIELD = optional(
  fields({
    ...PORT_TLS,
    client_certificates: oneOf(['none', 'optional', 'required'], {
      default: 'none',
      help: 'Whether clients prove who they are with a certificate; needs SVC_TRANSPORT=ws',
    }),
    client_ca_file: optional(text({ help: 'Authority that issues the certificates of clients, PEM' })),
  }),
  HELP,
);

export type TlsConfig = NonNullable<ValueOf<typeof TLS_FIELD>> & Partial<NonNullable<ValueOf<typeof WORKER_TLS_FIELD>>>;

export function findTlsContradictions(tls: TlsConfig | undefined): FieldProblem[] {
  const { client_certificates: asked = 'none', client_ca_file: authority } = tls ?? {};
  if (asked !== 'none' && authority === undefined) {
    const message = `Needs client_ca_file: without an authority, no certificate of a client can be verified.`;
    return [{ path: ['tls', 'client_certificates'], at: 'value', message }];
  }
  if (asked === 'none' && authority !== undefined) {
    const message = 'Needs client_certificates: optional or required; without it no client is asked for one.';
    return [{ path: ['tls', 'client_ca_file'], at: 'key', message }];
  }
  return [];
}
