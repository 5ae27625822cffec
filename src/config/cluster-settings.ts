// The setting `cluster`: several engines that act as one, over NATS.

import { isLoopbackHost } from '../core/access/origin.ts';
import { fields, flag, listOf, optional, secretText, text, url, type ValueOf } from '../core/config-fields/fields.ts';
import type { FieldProblem } from '../core/config-fields/fields-check.ts';
import { redactUrl } from '../core/config-fields/redaction.ts';

const nats = fields({
  servers: listOf(url(), { help: 'Addresses of NATS, with JetStream, 2.9 or newer: nats://host:4222' }),
  creds_file: optional(
    text({ help: 'File with the JWT and the seed of a user of NATS, relative to where the engine starts' }),
  ),
  user: optional(text({ help: 'User of NATS' })),
  password: optional(secretText({ help: 'Password of the user' })),
  tls: optional(
    fields({
      ca_file: optional(text({ help: 'Authority that issued the certificates of the servers, PEM' })),
      cert_file: optional(text({ help: 'Certificate of this engine, PEM, where NATS requires one' })),
      key_file: optional(text({ help: 'Private key of the certificate, PEM' })),
    }),
    'Encrypts the connection; so does an address that begins with tls://',
  ),
});

export const CLUSTER_FIELD = optional(
  fields({
    nats,
    prefix: text({
      default: 'svc',
      bytesMax: 32,
      help: 'Engines with the same prefix are one cluster; letters, digits, - and _',
    }),
    zone: optional(text({ bytesMax: 64, help: 'Where the engine runs; engines of the same zone are preferred' })),
    accept_weaker: flag({
      default: false,
      help: 'Also use a NATS on another machine without TLS or without credentials',
    }),
  }),
  'Makes this engine one of several that act as one',
);

export type ClusterSettings = NonNullable<ValueOf<typeof CLUSTER_FIELD>>;

/** For the connection. */
export function natsOf({ nats: settings }: ClusterSettings) {
  const { servers, creds_file: credsFile, user, password, tls } = settings;
  const files = tls && { caFile: tls.ca_file, certFile: tls.cert_file, keyFile: tls.key_file };
  return { servers, credsFile, user, password, tls: files };
}

const PREFIX = /^[A-Za-z0-9_-]+$/;

/** Settings that are valid one by one and wrong together. Paths begin below the document's root. */
export function findClusterContradictions(cluster: ClusterSettings | undefined): FieldProblem[] {
  if (cluster === undefined) return [];
  const problems: FieldProblem[] = [];
  if (!PREFIX.test(cluster.prefix)) {
    const message = `Must have letters, digits, - and _ only, found '${cluster.prefix}': it names buckets of NATS.`;
    problems.push({ path: ['cluster', 'prefix'], at: 'value', message });
  }
  const { servers, user, password } = cluster.nats;
  if (servers.length === 0) {
    const message = 'Needs at least one address, such as nats://127.0.0.1:4222.';
    problems.push({ path: ['cluster', 'nats', 'servers'], at: 'value', message });
  }
  if ((user === undefined) !== (password === undefined)) {
    const [given, missing] = user === undefined ? ['password', 'user'] : ['user', 'password'];
    problems.push({ path: ['cluster', 'nats', given], at: 'key', message: `Needs ${missing} as well.` });
  }
  problems.push(...servers.flatMap((address, index) => serverProblems(cluster, address, index)));
  return problems;
}

function serverProblems(
  { nats: settings, accept_weaker: isWeakerFine }: ClusterSettings,
  address: string,
  index: number,
) {
  const path = ['cluster', 'nats', 'servers', index];
  const parsed = URL.canParse(address) ? new URL(address) : undefined;
  if (parsed === undefined || !/^(nats|tls):$/.test(parsed.protocol) || parsed.hostname === '') {
    const message = `Must be an address such as nats://host:4222, found '${redactUrl(address)}'.`;
    return [{ path, at: 'value' as const, message }];
  }
  if (isWeakerFine || isLoopbackHost(parsed.hostname)) return [];
  const hasTls = settings.tls !== undefined || parsed.protocol === 'tls:';
  const hasCredentials = settings.creds_file !== undefined || settings.user !== undefined;
  if (hasTls && hasCredentials) return [];
  const missing = [
    ...(hasTls ? [] : ['cluster.nats.tls']),
    ...(hasCredentials ? [] : ['user and password, or creds_file']),
  ];
  const message =
    `'${parsed.hostname}' is another machine, and who reaches this NATS has the power of an engine. ` +
    `Set ${missing.join(' and ')}, or cluster.accept_weaker: true.`;
  return [{ path, at: 'value' as const, message }];
}
