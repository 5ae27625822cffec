// The adapter `rabbitmq`: its settings, and how the engine builds it.

import { either, fields, integer, listOf, optional, text, url } from '../../../../core/config-fields/fields.ts';
import type { FieldProblem } from '../../../../core/config-fields/fields-check.ts';
import { rabbitAddresses, rabbitAddressesOffence } from '../../../../core/queue/rabbit-address.ts';
import { defineQueueAdapter } from '../adapter.ts';
import { RabbitQueues } from './adapter.ts';
import { kindOffence } from './limits.ts';

/** Fields of the adapter of `iii` that have no meaning here. */
const UNUSED = 'Accepted and not used: set it in queue_configs';

const config = fields({
  amqp_url: either(url(), listOf(url()), {
    default: 'amqp://localhost:5672',
    help: 'Address of the RabbitMQ, with its vhost after the slash, or a list of the addresses of its nodes',
  }),
  prefix: text({ default: 'svc', bytesMax: 32, help: 'Prefix of every queue and exchange' }),
  consumer_timeout_ms: integer({
    default: 1_800_000,
    min: 60_000,
    max: 86_400_000,
    help: 'The consumer_timeout of the RabbitMQ: it gives jobs that take longer to another consumer',
  }),
  max_attempts: optional(integer({ min: 0, help: UNUSED })),
  prefetch_count: optional(integer({ min: 0, help: UNUSED })),
  queue_mode: optional(text({ help: UNUSED })),
});

export const rabbitQueues = defineQueueAdapter(
  {
    name: 'rabbitmq',
    aliases: [],
    classes: ['modules::queue::RabbitMQAdapter'],
    config,
    contradictions: ({ amqp_url: setting }) => addressProblems(rabbitAddresses(setting)),
  },
  ({ clock, logger, random }, settings) =>
    new RabbitQueues({
      async createLink(purpose, onUp) {
        const { RabbitLink } = await import('../../../../effects/rabbitmq.ts');
        return new RabbitLink({ urls: rabbitAddresses(settings.amqp_url), purpose, clock, logger, onUp });
      },
      prefix: settings.prefix,
      consumerTimeoutMs: settings.consumer_timeout_ms,
      clock,
      random,
      logger,
    }),
  {
    queueOffence: ({ name, ...kind }, { consumer_timeout_ms: timeoutMs }) => kindOffence(name, kind, timeoutMs),
    lacksPriorities: true,
  },
);

function addressProblems(addresses: readonly string[]): FieldProblem[] {
  const message = rabbitAddressesOffence(addresses);
  return message === undefined ? [] : [{ path: ['amqp_url'], at: 'value', message: `${message}.` }];
}
