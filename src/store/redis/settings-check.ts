// The settings that Redis needs so that it keeps what the engine acknowledges (guarantees 9.2). Weaker settings are
// accepted, with a warning and the weaker promise in health (PD-55).

import type { RedisLink } from '../../effects/redis.ts';

/** The relevant settings, by their names in Redis. */
export interface RedisSetup {
  /** Empty if Redis does not return them. */
  readonly settings: ReadonlyMap<string, string>;
  readonly replicas: number;
  /** The address for display, with scheme and host. */
  readonly address: string;
  readonly hasPassword: boolean;
}

const NAMES = ['appendonly', 'appendfsync', 'maxmemory-policy', 'min-replicas-to-write'];

export async function readRedisSetup(link: RedisLink): Promise<RedisSetup> {
  const { address, hasPassword } = link;
  // Some hosted Redis services do not show their settings. Health then says so.
  const settings = await link.run(['CONFIG', 'GET', ...NAMES]).then(pairsIn, () => new Map<string, string>());
  const replication = await link.run(['INFO', 'replication']).then(String, () => '');
  const replicas = Number(/^connected_slaves:(\d+)/m.exec(replication)?.[1] ?? 0);
  return { settings, replicas, address, hasPassword };
}

/** How the settings fall short of guarantees 9.2; empty if they do not. */
export function weakerPromises({ settings, replicas, address, hasPassword }: RedisSetup): string[] {
  if (settings.size === 0) return ['its settings cannot be read, so nothing is promised about them'];
  const weaker: string[] = [];
  const report = (isSo: boolean, text: string): void => {
    if (isSo) weaker.push(text);
  };
  const [appendOnly, sync] = [settings.get('appendonly'), settings.get('appendfsync')];
  report(appendOnly !== 'yes', 'appendonly is off: what was acknowledged is lost when Redis ends');
  report(appendOnly === 'yes' && sync === 'everysec', 'appendfsync is everysec: up to 1 s is lost on power failure');
  report(appendOnly === 'yes' && sync === 'no', 'appendfsync is no: what the system has not written is lost');
  const policy = settings.get('maxmemory-policy');
  report(policy !== 'noeviction', `maxmemory-policy is ${policy}: Redis may throw data away`);
  const isAlone = replicas > 0 && Number(settings.get('min-replicas-to-write') ?? 0) < 1;
  report(isAlone, 'min-replicas-to-write is 0: a failover may lose what no replica has');
  const isNear = /^\w+:\/\/(?:[^/]*@)?(localhost|127\.\d+\.\d+\.\d+|\[::1\])(:|\/|$)/.test(address);
  report(!isNear && !hasPassword, 'there is no password');
  report(!isNear && !address.startsWith('rediss:'), 'there is no TLS: anyone on the network path can read and write');
  return weaker;
}

/** Names and values in turn, or as a map: that depends on the protocol. */
function pairsIn(reply: unknown): Map<string, string> {
  const flat = Array.isArray(reply) ? reply.map(String) : Object.entries(Object(reply)).flat().map(String);
  const pairs = new Map<string, string>();
  for (let index = 0; index + 1 < flat.length; index += 2) pairs.set(flat[index] ?? '', flat[index + 1] ?? '');
  return pairs;
}
