// The checks of `svc doctor` for the certificates in the configuration.

import type { LoadedConfig } from '../../../config/load.ts';
import { expiryWarning } from '../../../effects/certificate-expiry.ts';
import { CertificateProblem, readCertificate } from '../../../effects/certificates.ts';
import { type PortWithTls, portsWithTls } from '../../../engine/port-tls.ts';
import { type Finding, fail, ok, warn } from './finding.ts';

/** One line for each port with TLS. */
export function certificateFindings(config: LoadedConfig, nowMs: number): Finding[] {
  return portsWithTls(config).map((port) => certificateFinding(port, nowMs));
}

function certificateFinding({ module, ...files }: PortWithTls, nowMs: number): Finding {
  const name = `certificate of ${module}`;
  try {
    const certificate = readCertificate(files, nowMs);
    const warning = expiryWarning(certificate, nowMs);
    if (warning !== undefined) return warn(name, warning, 'Renew it; a running engine reads the files again.');
    const until = new Date(certificate.expiresAtMs).toISOString();
    return ok(name, `valid until ${until} for ${certificate.names.join(', ')}`);
  } catch (error) {
    if (!(error instanceof CertificateProblem)) throw error;
    return fail(name, error.message, 'Correct tls of the module; the engine does not start with it.');
  }
}
