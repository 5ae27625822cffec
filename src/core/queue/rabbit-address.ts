import { redactUrl } from '../config-fields/redaction.ts';

/** Why RabbitMQ cannot be at the address. */
export function rabbitAddressOffence(address: string): string | undefined {
  if (/^amqps?:\/\/[^/]/.test(address) && URL.canParse(address)) return undefined;
  const forms = 'amqp://host:port/vhost or amqps://host:port/vhost';
  return `'${redactUrl(address)}' is not an address of RabbitMQ: ${forms}`;
}
