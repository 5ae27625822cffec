import { describe, expect, test } from 'vitest';
import { EXIT, EXIT_MEANINGS, exitCodeOfError } from '../../../../src/cli/kernel/exit-codes.ts';
import { ERROR_CODES } from '../../../../src/protocol/frames/errors.ts';

describe('exit codes', () => {
  test.each([
    ['invocation_failed', undefined, 1],
    ['invocation_stopped', undefined, 1],
    ['SOME_CODE_OF_A_HANDLER', undefined, 1],
    ['constructor', undefined, 1],
    ['function_not_found', undefined, 3],
    ['NOT_FOUND', undefined, 3],
    ['TIMEOUT', undefined, 4],
    ['UNAUTHORIZED', undefined, 6],
    ['FORBIDDEN', undefined, 6],
    ['OVERLOADED', undefined, 6],
    ['SHUTTING_DOWN', undefined, 6],
    ['RATE_LIMITED', undefined, 6],
    ['enqueue_error', 'QUEUE_FULL', 6],
    ['enqueue_error', 'STORAGE_FULL', 6],
    ['enqueue_error', 'SHUTTING_DOWN', 6],
    ['enqueue_error', 'QUEUE_NOT_FOUND', 3],
    ['enqueue_error', undefined, 6],
    ['FUNCTION_NAMESPACE_CONFLICT', undefined, 7],
  ])('[CLI-4] the error %s (%s) ends with exit code %d', (code, reason, expected) => {
    expect(exitCodeOfError(code, reason)).toBe(expected);
  });

  test('[CLI-4] every exit code is explained, and every code of the engine has one', () => {
    expect(Object.keys(EXIT_MEANINGS).map(Number).sort()).toEqual(Object.values<number>(EXIT).sort());
    for (const code of Object.keys(ERROR_CODES)) expect(EXIT_MEANINGS[exitCodeOfError(code)]).toBeDefined();
  });
});
