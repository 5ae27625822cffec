// Certificates for tests, made with the command line of OpenSSL. Nothing outside a test trusts them.

import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface CertificateOptions {
  readonly names?: readonly string[];
  readonly subject?: string;
  readonly validFrom?: Date;
  readonly expires?: Date;
}

export interface TestCertificate {
  readonly certFile: string;
  readonly keyFile: string;
}

const DAY_MS = 24 * 60 * 60 * 1_000;
/** Those of this machine. */
const OWN_NAMES = ['DNS:localhost', 'IP:127.0.0.1', 'IP:::1'];

/** An authority with a folder of its own, which `dispose` removes. */
export class TestAuthority implements Disposable {
  readonly folder = mkdtempSync(join(tmpdir(), 'svc-certificates-'));
  readonly caFile: string;
  readonly #keyFile: string;
  #count = 0;

  constructor(name = 'Authority of a test') {
    const { certFile, keyFile } = this.#selfSigned(name, []);
    this.caFile = certFile;
    this.#keyFile = keyFile;
    writeFileSync(join(this.folder, 'ca.cnf'), CA_CONFIG.replaceAll('FOLDER', this.folder));
    writeFileSync(join(this.folder, 'index'), '');
    writeFileSync(join(this.folder, 'serial'), '01\n');
  }

  /** Issues a certificate; by default one for this machine that is valid for a year. */
  issue(options: CertificateOptions = {}): TestCertificate {
    const { names = OWN_NAMES, subject = 'engine of a test' } = options;
    const validFrom = options.validFrom ?? new Date(Date.now() - DAY_MS);
    const expires = options.expires ?? new Date(Date.now() + 365 * DAY_MS);
    const { certFile, keyFile, at } = this.#files();
    const request = at('csr');
    openssl(['req', ...NEW_KEY, '-keyout', keyFile, '-out', request, '-subj', `/CN=${subject}`]);
    writeFileSync(at('ext'), names.length === 0 ? '' : `subjectAltName=${names.join(',')}\n`);
    const validity = ['-startdate', dateOf(validFrom), '-enddate', dateOf(expires)];
    openssl([
      ...['ca', '-batch', '-notext', '-config', join(this.folder, 'ca.cnf'), '-cert', this.caFile],
      ...['-keyfile', this.#keyFile, '-in', request, '-out', certFile, '-extfile', at('ext'), ...validity],
    ]);
    return { certFile, keyFile };
  }

  /** A certificate that is its own authority. */
  selfSigned(): TestCertificate {
    return this.#selfSigned('engine of a test', OWN_NAMES);
  }

  [Symbol.dispose](): void {
    rmSync(this.folder, { recursive: true, force: true });
  }

  #selfSigned(subject: string, names: readonly string[]): TestCertificate {
    const { certFile, keyFile } = this.#files();
    const extension = names.length === 0 ? [] : ['-addext', `subjectAltName=${names.join(',')}`];
    openssl([
      ...['req', '-x509', ...NEW_KEY, '-days', '3650', '-subj', `/CN=${subject}`],
      ...['-keyout', keyFile, '-out', certFile, ...extension],
    ]);
    return { certFile, keyFile };
  }

  #files() {
    const number = this.#count++;
    const at = (ending: string): string => join(this.folder, `${number}.${ending}`);
    return { certFile: at('cert.pem'), keyFile: at('key.pem'), at };
  }
}

const NEW_KEY = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];

const CA_CONFIG = `[ca]
default_ca = test
[test]
database = FOLDER/index
serial = FOLDER/serial
new_certs_dir = FOLDER
default_md = sha256
policy = names
unique_subject = no
[names]
commonName = supplied
`;

function openssl(args: readonly string[]): void {
  execFileSync('openssl', args, { stdio: ['ignore', 'ignore', 'pipe'] });
}

/** `20261127140000Z`. */
function dateOf(date: Date): string {
  return date.toISOString().replaceAll(/[-:T]|\.\d+/g, '');
}
