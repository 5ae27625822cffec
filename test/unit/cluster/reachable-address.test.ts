import type { NetworkInterfaceInfo } from 'node:os';
import { describe, expect, test } from 'vitest';
import { reachableAddress } from '../../../src/cluster/reachable-address.ts';

const MAC = '00:00:00:00:00:00';
const IPV4 = { family: 'IPv4', netmask: '255.255.255.0', mac: MAC, cidr: null } as const;
const IPV6 = { family: 'IPv6', netmask: 'ffff:ffff:ffff:ffff::', mac: MAC, cidr: null, scopeid: 0 } as const;
const LOOPBACK: NetworkInterfaceInfo[] = [{ ...IPV4, address: '127.0.0.1', internal: true }];
const LINK: NetworkInterfaceInfo = { ...IPV6, address: 'fe80::1', internal: false };
const IPV6_OF_MACHINE: NetworkInterfaceInfo = { ...IPV6, address: '2001:db8::7', internal: false };
const IPV4_OF_MACHINE: NetworkInterfaceInfo = { ...IPV4, address: '10.0.0.7', internal: false };

describe('[CL19] the address of an engine', () => {
  test.each([
    ['ws://0.0.0.0:49134', 'ws://10.0.0.7:49134'],
    ['wss://[::]:49134', 'wss://10.0.0.7:49134'],
  ])('%s is that of its machine', (address, expected) => {
    const interfaces = { lo: LOOPBACK, eth0: [LINK, IPV6_OF_MACHINE, IPV4_OF_MACHINE] };
    expect(reachableAddress(address, interfaces)).toBe(expected);
  });

  test('is one of IPv6 on a machine without IPv4', () => {
    const interfaces = { lo: LOOPBACK, eth0: [LINK, IPV6_OF_MACHINE] };
    expect(reachableAddress('ws://[::]:49134', interfaces)).toBe('ws://[2001:db8::7]:49134');
  });

  test('is that of the configuration where it names one', () => {
    const interfaces = { eth0: [IPV4_OF_MACHINE] };
    for (const address of ['ws://127.0.0.1:49134', 'wss://10.0.0.70:49134', 'ws://[::1]:49134']) {
      expect(reachableAddress(address, interfaces)).toBe(address);
    }
  });

  test('is that of the port on a machine without a network', () => {
    expect(reachableAddress('ws://0.0.0.0:49134', { lo: LOOPBACK })).toBe('ws://0.0.0.0:49134');
  });
});
