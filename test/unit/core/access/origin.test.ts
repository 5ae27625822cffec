import { describe, expect, test } from 'vitest';
import { isLoopbackHost, type OriginRules, originOffence } from '../../../../src/core/access/origin.ts';

const LOCAL: OriginRules = {
  boundHost: '127.0.0.1',
  allowedHosts: ['engine.internal'],
  allowedOrigins: ['http://localhost:3113'],
};

describe('the Host header', () => {
  test.each([
    'localhost',
    'localhost:49134',
    'LOCALHOST:49134',
    '127.0.0.1:49134',
    '127.9.8.7:49134',
    '[::1]:49134',
    '[0:0:0:0:0:0:0:1]',
    'shop.localhost',
    'A.b-c_d.LOCALHOST:5173',
    'engine.internal',
    'Engine.Internal:80',
  ])('[X3] %s is served', (host) => {
    expect(originOffence({ host, origin: undefined }, LOCAL)).toBeUndefined();
  });

  test.each([
    undefined,
    '',
    'evil.example',
    'evil.example:49134',
    'localhost.evil.example',
    'engine.internal.evil.example',
    '127.0.0.1.evil.example',
    'xlocalhost',
    '192.168.0.7',
    'localhost:49134@evil.example',
    'localhost,evil.example',
    'evil.example/.localhost',
    'evil.example@.localhost',
    'evil.example:80.localhost',
    '.localhost',
    'a..localhost',
    'localhost.',
    '127.0.0.256',
    '127.1',
    '::1',
    '[::ffff:127.0.0.1]',
    '[::1%lo]',
    '[::1].evil.example',
  ])('[X3] %s is refused, because an attacker can make any name resolve here', (host) => {
    expect(originOffence({ host, origin: undefined }, LOCAL)).toContain('is not served here; name it in allowed_hosts');
  });

  test('[X3] the address that the listener is bound to is served, IPv4 or IPv6', () => {
    const served = (boundHost: string, host: string): boolean =>
      originOffence({ host, origin: undefined }, { ...LOCAL, boundHost }) === undefined;
    expect(served('10.1.2.3', '10.1.2.3:49134')).toBe(true);
    expect(served('10.1.2.3', '10.1.2.4:49134')).toBe(false);
    expect(served('2001:db8::7', '[2001:db8::7]:49134')).toBe(true);
    expect(served('2001:db8::7', '[2001:DB8::7]:49134')).toBe(true);
    expect(served('[2001:db8::7]', '[2001:db8::7]:49134')).toBe(true);
    expect(served('2001:db8::7', '[2001:db8::8]:49134')).toBe(false);
  });

  test('[X3] an IPv6 address among the allowed hosts may be written with or without brackets', () => {
    for (const allowed of ['2001:db8::9', '[2001:db8::9]']) {
      const rules = { ...LOCAL, allowedHosts: [allowed] };
      expect(originOffence({ host: '[2001:db8::9]:49134', origin: undefined }, rules)).toBeUndefined();
    }
  });

  test.each(['0.0.0.0', '::', '[::]'])('[X3] a listener on %s serves every address, and no name', (boundHost) => {
    const offence = (host: string) => originOffence({ host, origin: undefined }, { ...LOCAL, boundHost });
    expect(offence('203.0.113.9:49134')).toBeUndefined();
    expect(offence('[2001:db8::7]')).toBeUndefined();
    expect(offence('evil.example')).toContain("Host 'evil.example'");
    expect(offence('203.0.113.9.evil.example')).toContain('is not served');
  });
});

describe('the Origin header', () => {
  test('[X3] a request without one is accepted, because it is not from a browser', () => {
    expect(originOffence({ host: 'localhost', origin: undefined }, LOCAL)).toBeUndefined();
  });

  test('[X3] a listed origin is accepted, in capitals too', () => {
    expect(originOffence({ host: 'localhost', origin: 'http://localhost:3113' }, LOCAL)).toBeUndefined();
    expect(originOffence({ host: 'localhost', origin: 'HTTP://LocalHost:3113' }, LOCAL)).toBeUndefined();
  });

  test.each([
    'http://evil.example',
    'https://localhost:3113',
    'http://localhost:31130',
    'http://localhost:3113.evil.example',
    'http://localhost',
    'null',
    '',
  ])('[X3] %j is refused, and the refusal names the setting', (origin) => {
    const offence = originOffence({ host: 'localhost', origin }, LOCAL);
    expect(offence).toBe(`Origin '${origin}' is not allowed; name it in allowed_origins of this listener`);
  });

  test('[X3] a listed origin under a foreign Host is refused', () => {
    const headers = { host: 'rebound.example:49134', origin: 'http://localhost:3113' };
    expect(originOffence(headers, LOCAL)).toContain('Host');
  });

  test('[X3] a refusal quotes the first hundred characters', () => {
    const offence = originOffence({ host: 'x'.repeat(5000), origin: undefined }, LOCAL);
    expect(offence?.length).toBeLessThan(200);
  });
});

describe('listeners without a token', () => {
  test.each([
    'localhost',
    'LocalHost',
    '127.0.0.1',
    '127.8.9.1',
    '::1',
    '[::1]',
    '0:0:0:0:0:0:0:1',
    '::ffff:127.0.0.1',
  ])('[X2] a listener on %s needs no token', (host) => {
    expect(isLoopbackHost(host)).toBe(true);
  });

  test.each([
    '0.0.0.0',
    '::',
    '10.0.0.1',
    '127.0.0.1.example',
    '127.0.0.256',
    'localhost.example',
    'app.localhost',
    '1127.0.0.1',
    '::ffff:7f',
    '::ffff:10.0.0.1',
    '127::1',
    '',
  ])('[X2] a listener on %s needs a token', (host) => {
    expect(isLoopbackHost(host)).toBe(false);
  });
});

describe('a port that serves pages of its own host', () => {
  const own: OriginRules = { ...LOCAL, allowedHosts: ['app.example'], allowedOrigins: [], servesOwnPages: true };
  const offence = (origin: string, rules = own) => originOffence({ host: 'app.example:49135', origin }, rules);

  test.each(['https://app.example', 'http://APP.example:3000', 'https://app.example:49135'])(
    '[X3] %s is accepted, whatever its port',
    (origin) => expect(offence(origin)).toBeUndefined(),
  );

  test.each([
    'https://evil-app.example',
    'https://x.app.example',
    'https://app.example.evil.example',
    'https://example',
    'https://app.example@evil.example',
    'null',
    'app.example',
    '',
  ])('[X3] %s is refused, because whole hosts are compared', (origin) => {
    expect(offence(origin)).toContain('is not allowed');
  });

  test('[X3] with a list of origins, pages of the same host must be listed too', () => {
    expect(offence('https://app.example', { ...own, allowedOrigins: ['https://other.example'] })).toContain(
      'not allowed',
    );
  });
});
