import { describe, expect, test } from 'vitest';
import {
  isSecretKey,
  REDACTED,
  redactFields,
  redactKeys,
  redactSecretUrl,
  redactUrl,
} from '../../../../src/core/config-fields/redaction.ts';

describe('keys that are secret', () => {
  test.each([
    'authorization',
    'Authorization',
    'proxy-authorization',
    'cookie',
    'Set-Cookie',
    'sec-websocket-protocol',
    'x-api-key',
    'baggage',
    'bridge_token',
    'accessToken',
    'client_secret',
    'DB_PASSWORD',
    'passwd',
    'api_key',
    'API-KEY',
    'apiKey',
    'private_key',
    'privateKey',
    'aws_credentials',
    'access_key',
  ])('[X22] The value of %s is not shown', (key) => {
    expect(isSecretKey(key)).toBe(true);
    expect(redactKeys({ [key]: 'hunter2' })).toEqual({ [key]: REDACTED });
  });

  test.each(['port', 'host', 'key', 'public', 'cookies_accepted', 'baggage_items', 'url', 'pass', ''])(
    '[X22] The value of %s is shown',
    (key) => {
      expect(isSecretKey(key)).toBe(false);
      expect(redactKeys({ [key]: 'plain' })).toEqual({ [key]: 'plain' });
    },
  );
});

describe('values below keys', () => {
  test('[X22] Secrets are found at any depth, in lists and in maps', () => {
    const value = { a: [{ headers: { Authorization: 'Bearer abc', accept: '*/*' } }], b: { c: { password: 'x' } } };
    expect(redactKeys(value)).toEqual({
      a: [{ headers: { Authorization: REDACTED, accept: '*/*' } }],
      b: { c: { password: REDACTED } },
    });
  });

  test('[X22] Everything below a secret key is replaced, whatever its type', () => {
    for (const secret of ['text', 5, true, ['a', 'b'], { user: 'u', pass: 'p' }]) {
      expect(redactKeys({ credentials: secret })).toEqual({ credentials: REDACTED });
    }
  });

  test('[X22] An unset secret is shown as unset', () => {
    expect(redactKeys({ bridge_token: null })).toEqual({ bridge_token: null });
  });

  test('[X22] The original does not change', () => {
    const value = { token: 'abc', list: [{ secret: 's' }] };
    redactFields(value);
    expect(value).toEqual({ token: 'abc', list: [{ secret: 's' }] });
  });

  test('[X22] The key of the value itself counts', () => {
    expect(redactKeys('abc', 'token')).toBe(REDACTED);
    expect(redactKeys('redis://u:p@host', 'extstore_url')).toBe(`redis://${REDACTED}@host`);
  });

  test('[X22] Every address in a list is redacted', () => {
    expect(redactKeys({ broker_url: ['amqp://u:p@a', 'amqp://b'] })).toEqual({
      broker_url: [`amqp://${REDACTED}@a`, 'amqp://b'],
    });
  });

  test('[X19] A key named __proto__ is copied as data and changes no prototype', () => {
    const copy = redactFields(JSON.parse('{"__proto__": {"polluted": "yes", "token": "abc"}}'));
    expect(JSON.stringify(copy)).toBe(`{"__proto__":{"polluted":"yes","token":"${REDACTED}"}}`);
    expect('polluted' in {}).toBe(false);
  });

  test('[X22] A value that contains itself, or is nested too deep, is cut off', () => {
    const self: Record<string, unknown> = { name: 'a', token: 'abc' };
    self.self = self;
    self.again = [self];
    expect(redactFields(self)).toEqual({ name: 'a', token: REDACTED, self: '[circular]', again: ['[circular]'] });
    let deep: unknown = 'bottom';
    for (let level = 0; level < 50_000; level++) deep = [deep];
    expect(JSON.stringify(redactKeys(deep))).toContain('[too deep]');
  });

  test('[X22] The same value in two places is not a cycle', () => {
    const shared = { port: 1 };
    expect(redactKeys([shared, shared])).toEqual([{ port: 1 }, { port: 1 }]);
  });

  test('[X22] A value that is neither list nor plain object does not change', () => {
    const date = new Date(0);
    expect(redactKeys({ date, count: 5, missing: undefined })).toEqual({ date, count: 5, missing: undefined });
  });
});

describe('addresses', () => {
  test.each([
    ['redis://localhost:6379', 'redis://localhost:6379'],
    ['redis://user:pw@localhost:6379/0', `redis://${REDACTED}@localhost:6379/0`],
    ['amqps://host/vhost?password=abc&x=1', `amqps://host/vhost?${REDACTED}`],
    ['https://host/cb#access_token=abc', `https://host/cb#${REDACTED}`],
    ['user:pw@host', `${REDACTED}@host`],
    ['redis://user:p/a/s@host', `redis://${REDACTED}@host`],
    ['redis://user:p?a#s@host', `redis://${REDACTED}@host`],
    ['redis://user:p@ss@host?x=y', `redis://${REDACTED}@host?${REDACTED}`],
    ['', ''],
  ])('[X22] %s is shown as %s', (address, shown) => {
    expect(redactUrl(address)).toBe(shown);
    expect(redactKeys({ broker_url: address })).toEqual({ broker_url: shown });
  });

  test('[X22] A password with unusual characters is never shown', () => {
    for (const odd of ['/', '?', '#', '@', ':', '://', '%40', ' ', '\\', '[', '\n']) {
      expect(redactUrl(`redis://user:hun${odd}ter2@host:6379/0`)).not.toMatch(/hun|ter2|user/);
    }
  });
});

describe('addresses that are secrets themselves', () => {
  test.each([
    ['https://hooks.example/services/T1/B2/s3cret', 'https://hooks.example/[redacted]'],
    ['https://hooks.example:8443/?key=s3cret', 'https://hooks.example:8443/[redacted]'],
    ['https://hooks.example', 'https://hooks.example'],
    ['https://user:s3cret@hooks.example/s3cret', 'https://[redacted]@hooks.example/[redacted]'],
    ['HTTPS://hooks.example\\s3cret', 'HTTPS://hooks.example/[redacted]'],
    ['https://user:12/s3cret@hooks.example/a', REDACTED],
    ['https://hooks.example/@s3cret', REDACTED],
    ['https://s3cret#@hooks.example/a', REDACTED],
    ['//hooks.example/s3cret', REDACTED],
    ['s3cret', REDACTED],
    ['https:///s3cret', REDACTED],
    ['', REDACTED],
  ])('[X22] %s is shown as %s', (address, shown) => expect(redactSecretUrl(address)).toBe(shown));

  test('[X22] Webhooks under their keys in log lines and in environments', () => {
    const address = 'https://hooks.example/services/s3cret';
    for (const key of ['webhook', 'SLACK_WEBHOOK', 'SLACK_WEBHOOK_URL', 'webhookUrl', 'alert-webhook-uri']) {
      expect(redactKeys({ [key]: address })).toEqual({ [key]: 'https://hooks.example/[redacted]' });
    }
    for (const key of ['DATABASE_URL', 'SENTRY_DSN', 'otlp_endpoint', 'mongoUri']) {
      expect(redactKeys({ [key]: 'x://u:s3cret@h/db?k=s3cret' })).toEqual({ [key]: 'x://[redacted]@h/db?[redacted]' });
    }
  });
});
