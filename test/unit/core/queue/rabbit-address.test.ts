import { expect, test } from 'vitest';
import { rabbitAddressesOffence } from '../../../../src/core/queue/rabbit-address.ts';

test('the nodes of one RabbitMQ differ in host and port', () => {
  expect(rabbitAddressesOffence(['amqp://u:p@one:5672/jobs', 'amqp://u:p@two/jobs'])).toBeUndefined();
  expect(rabbitAddressesOffence(['amqps://one'])).toBeUndefined();
});

test.each([
  ['amqp://u:p@one/jobs', 'amqp://u:other@two/jobs'],
  ['amqp://u:p@one/jobs', 'amqp://u:p@two'],
  ['amqp://one', 'amqps://two'],
  ['amqp://one', 'amqp://two?heartbeat=5'],
])('%s and %s are not nodes of one RabbitMQ, and no password is in the message', (one, other) => {
  const offence = rabbitAddressesOffence([one, other]);
  expect(offence).toContain('in more than host and port');
  expect(offence).not.toMatch(/u:/);
});

test.each(['http://one', 'amqp:///jobs', 'one:5672', 'amqp://[::1]:5672'])('%s is refused by name', (address) => {
  expect(rabbitAddressesOffence(['amqp://two', address])).toContain(address);
});

test('an empty list is refused', () => {
  expect(rabbitAddressesOffence([])).toBe('A RabbitMQ has at least one address');
});
