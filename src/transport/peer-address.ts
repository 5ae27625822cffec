// One form for the address of a client, so that the same client has the same address with both libraries.

/** IPv4 as it is; IPv6 in full, eight groups of four digits, without its zone. */
export function fullAddress(address: string): string {
  if (!address.includes(':')) return address;
  const [bare = ''] = address.split('%');
  const [front = '', back = ''] = bare.split('::');
  const [before, after] = [groupsOf(front), groupsOf(back)];
  const zeros = Array<string>(GROUPS - before.length - after.length).fill('0000');
  return [...before, ...zeros, ...after].join(':');
}

const GROUPS = 8;

function groupsOf(part: string): string[] {
  if (part === '') return [];
  return part.split(':').flatMap((group) => (group.includes('.') ? groupsOfDotted(group) : [group.padStart(4, '0')]));
}

/** The IPv4 address at the end of a mapped one is two groups. */
function groupsOfDotted(dotted: string): string[] {
  const hex = dotted.split('.').map((byte) => Number(byte).toString(16).padStart(2, '0'));
  return [hex.slice(0, 2).join(''), hex.slice(2).join('')];
}
