import { expect, test } from 'vitest';
import { AddressBlocks, clientAddress, fullAddress } from '../../../../src/core/limits/client-address.ts';

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
])('[X15] A request from %s with X-Forwarded-For %j has the address %s', (peer, forwarded, expected) => {
  expect(clientAddress(peer, forwarded, PROXIES)).toBe(expected);
});

test('[X15] Without trusted proxies X-Forwarded-For is ignored', () => {
  expect(clientAddress('10.0.0.1', '198.51.100.1', new AddressBlocks([]))).toBe('10.0.0.1');
  expect(clientAddress('0000:0000:0000:0000:0000:ffff:7f00:0001', undefined, new AddressBlocks([]))).toBe('127.0.0.1');
});

test.each([
  ['127.0.0.1', '127.0.0.1'],
  ['203.0.113.9', '203.0.113.9'],
  ['::', '0000:0000:0000:0000:0000:0000:0000:0000'],
  ['::1', '0000:0000:0000:0000:0000:0000:0000:0001'],
  ['fe80::1%eth0', 'fe80:0000:0000:0000:0000:0000:0000:0001'],
  ['2001:db8::7:0:a', '2001:0db8:0000:0000:0000:0007:0000:000a'],
  ['2001:db8:1:2:3:4:5:6', '2001:0db8:0001:0002:0003:0004:0005:0006'],
  ['2001:db8::', '2001:0db8:0000:0000:0000:0000:0000:0000'],
  ['::ffff:127.0.0.1', '0000:0000:0000:0000:0000:ffff:7f00:0001'],
  ['::ffff:203.0.113.9', '0000:0000:0000:0000:0000:ffff:cb00:7109'],
  // The client was gone before its address was read.
  ['', ''],
])("[wire 13] The address '%s' is reported as '%s'", (address, expected) => {
  expect(fullAddress(address)).toBe(expected);
});
