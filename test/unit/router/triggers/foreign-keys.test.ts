import { expect, test } from 'vitest';
import { createLogger } from '../../../../src/effects/logger.ts';
import { HTTP_TRIGGER_SPEC } from '../../../../src/modules/http/trigger.ts';
import { asRawJson, parseRawJson } from '../../../../src/protocol/json/byte-string.ts';
import { ForeignKeys } from '../../../../src/router/triggers/foreign-keys.ts';
import { FakeClock } from '../../../support/fakes/fake-clock.ts';

const TYPE = { id: 'http', spec: HTTP_TRIGGER_SPEC, refuse: () => undefined };

test('[T9] A config with and one without foreign keys are equal, whatever spaces their clients write', () => {
  const lines: string[] = [];
  const logger = createLogger({
    ...{ level: 'info', format: 'default', clock: new FakeClock() },
    write: (line) => lines.push(line),
  });
  const keys = new ForeignKeys(logger);
  const plain = keys.without(TYPE, asRawJson('{"api_path": "/orders", "http_method": "POST"}'));
  expect(lines).toEqual([]);
  const described = keys.without(TYPE, asRawJson('{"api_path":"/orders","description":"x","http_method":"POST"}'));
  expect(described).toBe(plain);
  expect(parseRawJson(plain)).toEqual({ api_path: '/orders', http_method: 'POST' });
  expect(lines.join()).toContain('description');
});
