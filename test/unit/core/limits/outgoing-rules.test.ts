import { describe, expect, test } from 'vitest';
import {
  isRefused,
  judgeAddresses,
  judgeUrl,
  type OutgoingAllowList,
  readAllowList,
  readIp,
} from '../../../../src/core/limits/outgoing-rules.ts';

function listed(...entries: readonly string[]): OutgoingAllowList {
  const list = readAllowList(entries);
  if ('wrong' in list) throw new Error(`${list.wrong} is wrong`);
  return list;
}

const NOTHING = listed();

function refusal(url: string, list: OutgoingAllowList = NOTHING): string {
  const judged = judgeUrl(url, list);
  return judged.ok ? 'taken' : judged.reason;
}

/** The verdict on a URL whose host resolves to these addresses. */
function resolved(url: string, addresses: readonly string[], list: OutgoingAllowList = NOTHING): string {
  const judged = judgeUrl(url, list);
  if (!judged.ok) return judged.reason;
  const read = addresses.map((text) => {
    const address = readIp(text);
    if (address === undefined) throw new Error(`${text} is no address`);
    return address;
  });
  const verdict = judgeAddresses(judged.value, read, list);
  return verdict.ok ? 'taken' : verdict.reason;
}

describe('[X18] addresses', () => {
  test.each([
    ['0.0.0.0', '0.255.255.255', '1.0.0.0'],
    ['10.0.0.0', '10.255.255.255', '11.0.0.0'],
    ['100.64.0.0', '100.127.255.255', '100.128.0.0'],
    ['127.0.0.0', '127.255.255.255', '128.0.0.0'],
    ['169.254.0.0', '169.254.255.255', '169.255.0.0'],
    ['172.16.0.0', '172.31.255.255', '172.32.0.0'],
    ['192.0.0.0', '192.0.0.255', '192.0.1.0'],
    ['192.0.2.0', '192.0.2.255', '192.0.3.0'],
    ['192.88.99.0', '192.88.99.255', '192.88.100.0'],
    ['192.168.0.0', '192.168.255.255', '192.169.0.0'],
    ['198.18.0.0', '198.19.255.255', '198.20.0.0'],
    ['198.51.100.0', '198.51.100.255', '198.51.101.0'],
    ['203.0.113.0', '203.0.113.255', '203.0.114.0'],
    ['224.0.0.0', '239.255.255.255', '223.255.255.255'],
    ['240.0.0.0', '255.255.255.255', '223.255.255.255'],
    ['::', '::', '2600::'],
    ['::1', '::1', '2600::1'],
    ['fc00::', 'fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff', 'fe00::'],
    ['fe80::', 'febf:ffff:ffff:ffff:ffff:ffff:ffff:ffff', 'fec0::'],
    ['ff00::', 'ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff', 'feff::'],
    ['2001:db8::', '2001:db8:ffff:ffff:ffff:ffff:ffff:ffff', '2001:db9::'],
    ['100::', '100::ffff:ffff:ffff:ffff', '100:0:0:1::'],
    ['2001::', '2001:0:ffff:ffff:ffff:ffff:ffff:ffff', '2001:1::'],
    ['2002::', '2002:ffff:ffff:ffff:ffff:ffff:ffff:ffff', '2003::'],
  ])('[X18] from %s to %s are refused, and %s is accepted', (first, last, beyond) => {
    const isRefusedText = (text: string): boolean => isRefused(readIp(text) ?? { version: 4, value: 0 });
    expect([first, last, beyond].map(isRefusedText)).toEqual([true, true, false]);
  });

  test.each(['64:ff9b:1:a00:0:100:808:808', '64:ff9b:1:ab0a:0:1:808:808', '64:ff9b:1:abcd:a:1:808:808'])(
    '[X18] %s can hold a private address, and is refused',
    (text) => expect(isRefused(readIp(text) ?? { version: 4, value: 134_744_072 })).toBe(true),
  );

  test.each(['::', '::ffff:', '64:ff9b::', '64:ff9b:1::'])('[X18] the IPv4 address inside %s… decides', (prefix) => {
    for (const [inside, isBad] of [
      ['10.0.0.1', true],
      ['127.0.0.1', true],
      ['169.254.169.254', true],
      ['8.8.8.8', false],
    ] as const) {
      const address = readIp(`${prefix}${inside}`);
      expect([address === undefined, address !== undefined && isRefused(address)]).toEqual([false, isBad]);
    }
    expect(isRefused(readIp(`${prefix}7f00:1`) ?? { version: 4, value: 134_744_072 })).toBe(true);
  });

  test.each([
    '127.0.0.1',
    '127.1',
    '127.0.1',
    '2130706433',
    '0x7f000001',
    '0x7f.1',
    '017700000001',
    '0177.0.0.1',
    '0177.0x0.00.01',
  ])('[X18] %s is 127.0.0.1', (spelling) => {
    expect(readIp(spelling)).toEqual({ version: 4, value: 0x7f000001 });
    expect(refusal(`https://${spelling}/`)).toContain('not on the public internet');
  });

  test.each([
    'https://[::1]/',
    'https://[0:0:0:0:0:0:0:1]/',
    'https://[::ffff:127.0.0.1]/',
    'https://[::ffff:7f00:1]/',
    'https://[64:ff9b::10.0.0.1]/',
    'https://[fe80::1]/',
    'https://127.0.0.1./',
    'https://１２７.0.0.1/',
    'https://127。0。0。1/',
    'https://%31%32%37.0.0.1/',
    'https://169.254.169.254/latest/meta-data',
  ])('[X18] %s is refused in every spelling', (url) => {
    expect(refusal(url)).toContain('not on the public internet');
  });

  test.each([
    '',
    '256.0.0.1',
    '1.2.3.4.5',
    '1..2',
    '08.0.0.1',
    '1.2.3.256',
    '4294967296',
    '0x',
    ':::',
    '1:2:3',
    'g::',
    '1::2::3',
    '::1.2.3',
    '::1.2.3.4.5',
    '12345::',
    '1:2:3:4:5:6:7:8:9',
    'fe80::1%eth0',
  ])('[X18] %j is not an address', (text) => {
    expect(readIp(text)).toBeUndefined();
  });
});

describe('[X16] URLs', () => {
  test.each([
    ['https://example.com/hook', 'taken'],
    ['https://example.com:443/', 'taken'],
    ['https://example.com:80/', 'taken'],
    ['http://example.com/', 'its scheme is not https'],
    ['https://example.com:8443/', 'port 8443'],
    ['https://user:pw@example.com/', 'user info'],
    ['https://user@example.com/', 'user info'],
    ['ftp://example.com/', 'its scheme is not https'],
    ['file:///etc/passwd', 'its scheme is not https'],
    ['gopher://example.com/', 'its scheme is not https'],
    ['javascript:alert(1)', 'its scheme is not https'],
    ['example.com', 'it is not a URL'],
    ['https://', 'it is not a URL'],
    ['', 'it is not a URL'],
  ])('[X16] %s: %s', (url, expected) => {
    expect(refusal(url)).toContain(expected);
  });

  test('[X16] on the list may use http, any port and any address, but no user info', () => {
    const list = listed('hooks.local', '10.1.0.0/16', '[::1]', '192.168.7.7');
    expect(refusal('http://HOOKS.local.:8080/', list)).toBe('taken');
    expect(resolved('http://hooks.local/', ['127.0.0.1'], list)).toBe('taken');
    expect(refusal('http://10.1.2.3:9000/', list)).toBe('taken');
    expect(refusal('http://[0::1]/', list)).toBe('taken');
    expect(refusal('http://192.168.7.7/', list)).toBe('taken');
    expect(refusal('http://192.168.7.8/', list)).toContain('scheme');
    expect(refusal('https://sub.hooks.local/', list)).toBe('taken');
    expect(resolved('https://sub.hooks.local/', ['127.0.0.1'], list)).toContain('not on the public internet');
    expect(refusal('http://u:p@hooks.local/', list)).toContain('user info');
    expect(resolved('http://other.local/', ['10.1.2.3'], list)).toBe('taken');
    expect(resolved('http://other.local/', ['10.2.2.3'], list)).toContain('scheme');
    expect(resolved('http://other.local/', ['10.1.2.3', '8.8.8.8'], list)).toContain('scheme');
  });

  test.each(['http://a', 'a b', '10.0.0.0/33', '*', 'a/b', '', '::/129', 'a..b', '-a'])(
    '[X16] %j cannot be listed',
    (entry) => {
      expect(readAllowList([entry])).toEqual({ wrong: entry });
    },
  );
});

describe('[X17] every address that a name resolves to', () => {
  test('[X17] must be allowed', () => {
    expect(resolved('https://example.com/', ['93.184.215.14', '2606:2800::1'])).toBe('taken');
    expect(resolved('https://example.com/', ['93.184.215.14', '127.0.0.1'])).toContain('not on the public internet');
    expect(resolved('https://example.com/', ['::ffff:10.0.0.1'])).toContain('not on the public internet');
    expect(resolved('https://example.com/', [])).toContain('no address');
  });

  test('[X17] no refusal reveals the address', () => {
    expect(resolved('https://inside.example.com/', ['10.20.30.40'])).not.toContain('10.20');
  });
});
