import { describe, expect, test } from 'vitest';
import {
  isEnqueueRefused,
  isFunctionNotFound,
  isInvocationStopped,
  isOverloaded,
  isRefused,
  isSvcError,
  isTimeout,
  SvcError,
} from '../../../../src/sdk/calls/errors.ts';
import { errorFromAnswer, errorToAnswer } from '../../../../src/sdk/calls/remote-error.ts';

describe('SvcError', () => {
  test('[SDK-6] it has the function that failed, its trace, the reason, and whether to repeat the call', () => {
    const cause = new Error('socket');
    const error = new SvcError('OVERLOADED', 'too much', { function_id: 'a::b', trace_id: 't', cause });
    expect(error).toBeInstanceOf(Error);
    expect(error).toMatchObject({ code: 'OVERLOADED', message: 'too much', function_id: 'a::b', trace_id: 't', cause });
    expect(error.retryable).toBe(true);
    expect(String(error)).toBe('SvcError: too much');
    expect(error.stack).toMatch(/^SvcError: too much\n/);
  });

  test('[SDK-6] the code decides whether a call may be repeated, unless the error says otherwise', () => {
    expect(new SvcError('TIMEOUT', 'x').retryable).toBe(false);
    expect(new SvcError('OUT_OF_STOCK', 'x').retryable).toBe(false);
    expect(new SvcError('OUT_OF_STOCK', 'x', { retryable: true }).retryable).toBe(true);
  });

  test('[SDK-6] unknown fields are absent, so that a printed error does not show them', () => {
    expect(Object.keys(new SvcError('TIMEOUT', 'x', { function_id: undefined }))).toEqual(['code', 'retryable']);
  });

  test('[SDK-6] an error of another copy of the package is recognized, and other values with a code are not', () => {
    const foreign = Object.assign(new Error('x'), { code: 'TIMEOUT', [Symbol.for('svc.error')]: true });
    expect(isSvcError(foreign)).toBe(true);
    // As the wire writes it, and as console and command line show it.
    for (const code of ['function_not_found', 'FUNCTION_NOT_FOUND']) {
      expect(isSvcError(new SvcError('function_not_found', 'no such function'), code)).toBe(true);
    }
    expect(isTimeout(foreign)).toBe(true);
    for (const other of [Object.assign(new Error('x'), { code: 'TIMEOUT' }), { code: 'TIMEOUT' }, null, 'TIMEOUT']) {
      expect(isSvcError(other)).toBe(false);
    }
  });

  test('[SDK-6] each guard accepts its own codes only', () => {
    const guards = { isTimeout, isFunctionNotFound, isOverloaded, isInvocationStopped, isRefused, isEnqueueRefused };
    const codes = ['TIMEOUT', 'function_not_found', 'OVERLOADED', 'invocation_stopped', 'FORBIDDEN', 'enqueue_error'];
    const answers = codes.map((code) =>
      Object.entries(guards)
        .filter(([, guard]) => guard(new SvcError(code, 'x')))
        .map(([name]) => name),
    );
    expect(answers).toEqual(Object.keys(guards).map((name) => [name]));
    expect(isRefused(new SvcError('UNAUTHORIZED', 'x'))).toBe(true);
  });
});

describe('errors from the wire', () => {
  const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';

  test('[SDK-6] the error of the other side is in the field remote', () => {
    const body = { code: 'NO_SKU', message: 'sku is empty', stacktrace: 'Error: sku is empty\n    at remote.js:1' };
    const error = errorFromAnswer(body, 'stock::take', traceparent);
    expect(error).toMatchObject({
      code: 'NO_SKU',
      message: 'sku is empty',
      function_id: 'stock::take',
      trace_id: '0af7651916cd43dd8448eb211c80319c',
      remote: { message: 'sku is empty', stack: body.stacktrace },
    });
    expect(error.stack).not.toContain('remote.js');
  });

  test('[SDK-6] a code counts as retryable only if the engine raised it, not a handler', () => {
    const body = { code: 'OVERLOADED', message: 'full' };
    expect(errorFromAnswer(body, 'a::b', undefined).retryable).toBe(true);
    expect(errorFromAnswer({ ...body, stacktrace: 'Error: full' }, 'a::b', undefined).retryable).toBe(false);
  });

  test('[SDK-6] a refused enqueue has its reason as text and as a code', () => {
    const enqueue_error = "Queue 'paymnt' not found";
    const body = { code: 'enqueue_error', message: enqueue_error, enqueue_error, reason: 'QUEUE_NOT_FOUND' };
    expect(errorFromAnswer(body, 'a::b', undefined)).toMatchObject({ reason: 'QUEUE_NOT_FOUND', enqueue_error });
  });

  test('[SDK-6] a value that is not an error object becomes an error that quotes it', () => {
    for (const body of ['text', 5, {}, { code: 1, message: 'x' }, { code: 'X' }]) {
      const error = errorFromAnswer(body, 'a::b', undefined);
      expect(error).toMatchObject({ code: 'UNKNOWN', function_id: 'a::b' });
      expect(error.message).toContain(JSON.stringify(body));
    }
  });
});

describe('errors to the wire', () => {
  test('[SDK-6] an SvcError of a handler sets the code, and any other error is invocation_failed', () => {
    expect(errorToAnswer(new SvcError('NO_SKU', 'sku is empty'))).toMatchObject({ code: 'NO_SKU' });
    expect(errorToAnswer(Object.assign(new Error('x'), { code: 'ENOENT' }))).toMatchObject({
      code: 'invocation_failed',
    });
    expect(errorToAnswer(new SvcError('', 'x'))).toMatchObject({ code: 'invocation_failed' });
    const thrown = new TypeError('not a function');
    expect(errorToAnswer(thrown)).toEqual({
      code: 'invocation_failed',
      message: 'not a function',
      stacktrace: thrown.stack,
    });
  });

  test('[SDK-6] every thrown value has a message', () => {
    const cycle: { self?: unknown } = {};
    cycle.self = cycle;
    const messages = ['text', 5, null, undefined, { reason: 'x' }, 5n, cycle].map(
      (thrown) => errorToAnswer(thrown).message,
    );
    expect(messages).toEqual(['text', '5', 'null', 'undefined', '{"reason":"x"}', '5', '[object Object]']);
  });

  test('[fault 33] an error that cannot be converted to text is sent and read as an error', () => {
    const deep: unknown = JSON.parse('['.repeat(200_000) + ']'.repeat(200_000));
    for (const value of [deep, Object.assign(Object.create(null), { big: 5n })]) {
      expect(errorFromAnswer(value, 'a::b', undefined)).toMatchObject({ code: 'UNKNOWN' });
      expect(errorToAnswer(value)).toMatchObject({
        code: 'invocation_failed',
        // Node 26 writes the deep value as JSON.
        message: expect.stringMatching(/^\[/),
      });
    }
  });
});
