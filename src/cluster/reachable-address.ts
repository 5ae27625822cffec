// The address at which other machines reach a port of this engine.

import type { NetworkInterfaceInfo } from 'node:os';
import { hostInUrl } from '../core/access/origin.ts';

type Interfaces = Readonly<Record<string, readonly NetworkInterfaceInfo[] | undefined>>;

const ON_ALL_INTERFACES = /(?<=^\w+:\/\/)(0\.0\.0\.0|\[::\])(?=[:/]|$)/;
/** Addresses of a link mean nothing to machines beyond it, and others need the name of an interface. */
const OF_LINK = /^(169\.254\.|fe80:)/i;

/** A port on all interfaces is reached at the first address of the machine: IPv4, if it has one. */
export function reachableAddress(address: string, interfaces: Interfaces): string {
  const all = Object.values(interfaces).flatMap((ofOne) => ofOne ?? []);
  const ofMachine = all.filter((one) => !one.internal && !OF_LINK.test(one.address));
  const first = ofMachine.find(({ family }) => family === 'IPv4') ?? ofMachine[0];
  return first === undefined ? address : address.replace(ON_ALL_INTERFACES, hostInUrl(first.address));
}
