import { redactUrl } from '../config-fields/redaction.ts';

/** The nodes of one RabbitMQ, as `amqp_url` names them. */
export function rabbitAddresses(setting: string | readonly string[]): readonly string[] {
  return typeof setting === 'string' ? [setting] : setting;
}

/** Why these cannot be the addresses of the nodes of one RabbitMQ. */
export function rabbitAddressesOffence(addresses: readonly string[]): string | undefined {
  const [first] = addresses;
  if (first === undefined) return 'A RabbitMQ has at least one address';
  const offence = addresses.map(addressOffence).find((found) => found !== undefined);
  if (offence !== undefined) return offence;
  const stranger = addresses.find((address) => withoutHost(address) !== withoutHost(first));
  if (stranger === undefined) return undefined;
  return (
    `'${redactUrl(stranger)}' differs from '${redactUrl(first)}' in more than host and port: ` +
    'nodes of one RabbitMQ have the same scheme, user, password, vhost and query'
  );
}

function addressOffence(address: string): string | undefined {
  const forms = 'amqp://host:port/vhost or amqps://host:port/vhost';
  if (!/^amqps?:\/\/[^/]/.test(address) || !URL.canParse(address)) {
    return `'${redactUrl(address)}' is not an address of RabbitMQ: ${forms}`;
  }
  if (!new URL(address).hostname.startsWith('[')) return undefined;
  return `'${redactUrl(address)}' names a host by its IPv6 address, which the client of RabbitMQ cannot use: ${forms}`;
}

function withoutHost(address: string): string {
  const { protocol, username, password, pathname, search } = new URL(address);
  return JSON.stringify([protocol, username, password, pathname, search]);
}
