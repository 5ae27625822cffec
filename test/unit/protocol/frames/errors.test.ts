import { describe, expect, test } from 'vitest';
import { ERROR_CODES, shownCode } from '../../../../src/protocol/frames/errors.ts';
import { isRetryable } from '../../../../src/protocol/frames/retryable.ts';

describe('the codes of errors', () => {
  /** Guarantees H3: the HTTP status of each error of the engine. */
  const STATUSES: Readonly<Record<number, readonly string[]>> = {
    400: ['BAD_REQUEST'],
    401: ['UNAUTHORIZED'],
    403: ['FORBIDDEN'],
    404: ['NOT_FOUND'],
    413: ['PAYLOAD_TOO_LARGE'],
    429: ['RATE_LIMITED'],
    500: ['invocation_failed'],
    502: ['invocation_stopped'],
    503: ['function_not_found', 'OVERLOADED', 'SHUTTING_DOWN'],
    504: ['TIMEOUT'],
  };

  test('[H3] Each has the HTTP status that the guarantees state', () => {
    const table = new Map(Object.entries(ERROR_CODES));
    for (const [status, codes] of Object.entries(STATUSES)) {
      for (const code of codes) expect([code, table.get(code)?.httpStatus]).toEqual([code, Number(status)]);
    }
  });

  test('[I2] Only a call that cannot have begun is retryable', () => {
    expect(Object.keys(ERROR_CODES).filter(isRetryable).sort()).toEqual([
      'ENGINE_UNREACHABLE',
      'OVERLOADED',
      'RATE_LIMITED',
      'SHUTTING_DOWN',
      'STORAGE_FULL',
      'function_not_found',
    ]);
    for (const [code, { retryable }] of Object.entries(ERROR_CODES))
      expect([code, isRetryable(code)]).toEqual([code, retryable]);
  });

  test.each(['my_own_code', 'constructor', '__proto__', ''])(
    '[I2] A code of a handler such as %j never counts as retryable',
    (code) => {
      expect(isRetryable(code)).toBe(false);
    },
  );

  test('[guarantees 1.3] Each has a meaning of one sentence', () => {
    for (const { meaning } of Object.values(ERROR_CODES)) expect(meaning).toMatch(/^[A-Z].*\.$/);
  });
});

test('Codes of the engine are shown in upper case; those of handlers, and enqueue_error, as they are', () => {
  expect(['function_not_found', 'NOT_FOUND', 'enqueue_error', 'no_sku', 'toString'].map(shownCode)).toEqual([
    'FUNCTION_NOT_FOUND',
    'NOT_FOUND',
    'enqueue_error',
    'no_sku',
    'toString',
  ]);
});
