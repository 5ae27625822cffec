import { expect, test } from 'vitest';
import { AddressBlocks } from '../../../../src/core/gates/address-block.ts';
import { clientAddress } from '../../../../src/core/gates/client-address.ts';

const PROXIES = new AddressBlocks(['10.0.0.0/8', '192.0.2.7']);

test.each([
  ['203.0.113.9', '198.51.100.1', '203.0.113.9'],
  ['10.0.0.1', undefined, '10.0.0.1'],
  ['10.0.0.1', '', '10.0.0.1'],
  ['10.0.0.1', '198.51.100.1', '198.51.100.1'],
  ['10.0.0.1', 'made up, 198.51.100.1', '198.51.100.1'],
  ['10.0.0.1', '1.1.1.1, 198.51.100.1, 192.0.2.7,10.9.9.9', '198.51.100.1'],
  ['10.0.0.1', '198.51.100.1, made up', '10.0.0.1'],
  ['10.0.0.1', '10.0.0.2', '10.0.0.1'],
  ['10.0.0.1', '2001:db8::1', '2001:db8::1'],
  // Proxies may add a line of their own, and an empty one.
  ['10.0.0.1', '198.51.100.1, , 10.1.2.3', '198.51.100.1'],
  // A port of every address sees IPv4 in IPv6 form.
  ['0000:0000:0000:0000:0000:ffff:0a00:0001', '198.51.100.1', '198.51.100.1'],
  ['0000:0000:0000:0000:0000:ffff:cb00:7109', '198.51.100.1', '203.0.113.9'],
])('[X15] From %s with X-Forwarded-For %j it is %s', (peer, forwarded, expected) => {
  expect(clientAddress(peer, forwarded, PROXIES)).toBe(expected);
});

test('[X15] Without trusted proxies the header is ignored', () => {
  expect(clientAddress('10.0.0.1', '198.51.100.1', new AddressBlocks([]))).toBe('10.0.0.1');
  expect(clientAddress('0000:0000:0000:0000:0000:ffff:7f00:0001', undefined, new AddressBlocks([]))).toBe('127.0.0.1');
});
