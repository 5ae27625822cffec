import { readFile } from 'node:fs/promises';
import { describe, expect, test } from 'vitest';
import { rankSuggestions } from '../../../../src/cli/commands/call/function-details.ts';
import { callFailure, stackFrames } from '../../../../src/cli/engine/call-failure.ts';
import {
  CliFailure,
  EXIT,
  EXIT_MEANINGS,
  exitCodeOfError,
  formatFailureJson,
  toFailure,
} from '../../../../src/cli/kernel/failures.ts';
import { ERROR_CODES } from '../../../../src/protocol/frames/errors.ts';
import { SvcError } from '../../../../src/sdk/calls/errors.ts';

const STACK = `Error: no sku
    at readOrder (/app/src/orders.ts:3:9)
    at create (/app/src/orders.ts:12:3)
    at run (/app/node_modules/svc-sdk/dist/invocation.js:9:1)
    at process.processTicksAndRejections (node:internal/process/task_queues:105:5)
    at Object.run (file:///checkout/src/sdk/dist/sdk/platform-node.js:32:57)
    at third (/app/src/a.ts:1:1)
    at fourth (/app/src/b.ts:1:1)`;

describe('failed calls', () => {
  test('[CLI-22] the first stack frames of the handler are shown, without libraries and Node', () => {
    expect(stackFrames(STACK, false)).toEqual([
      'at readOrder (/app/src/orders.ts:3:9)',
      'at create (/app/src/orders.ts:12:3)',
      'at third (/app/src/a.ts:1:1)',
    ]);
    expect(stackFrames(STACK, true)).toHaveLength(7);
    expect(stackFrames(undefined, false)).toEqual([]);
  });

  test.each([
    [
      'engine::events::emit',
      { function_id: 'engine::events::emit' },
      'function_not_found',
      '',
      'svc worker add svc-pubsub',
    ],
    ['state::get', { function_id: 'state::get' }, 'function_not_found', '', 'svc worker add svc-state'],
    [
      'a queue without queues',
      { reason: 'QUEUE_NOT_FOUND' },
      'enqueue_error',
      'no queue module is loaded',
      'add svc-queue',
    ],
    ['an unknown queue', { reason: 'QUEUE_NOT_FOUND' }, 'enqueue_error', "Queue 'mail' not found", 'svc queue list'],
    ['a worker that failed', {}, 'WORKER_FAILED', 'The worker mail-2 does not run: exit', 'svc worker start mail-2.'],
    ['no project', { function_id: 'worker::add' }, 'BAD_REQUEST', 'There is no file x', 'svc worker init'],
  ])('[CLI-9] %s is reported with the next step', (_what, details, code, message, hint) => {
    const { report } = callFailure(new SvcError(code, message, details), { functionId: 'f', verbose: false });
    expect(report.hint).toContain(hint);
  });

  test('[CLI-22] a failure carries function, message, code, reason, trace and exit code', () => {
    const error = new SvcError('enqueue_error', 'queue is full', {
      reason: 'QUEUE_FULL',
      trace_id: '4bf9',
      retryable: true,
    });
    const { report } = callFailure(error, { functionId: 'orders::create', verbose: false });
    expect(report).toMatchObject({
      code: 'enqueue_error',
      message: 'orders::create failed: queue is full',
      exitCode: 6,
    });
    expect(report.lines).toEqual(['  code enqueue_error  reason QUEUE_FULL  trace 4bf9']);
    expect(report.details).toEqual({
      function_id: 'orders::create',
      reason: 'QUEUE_FULL',
      trace_id: '4bf9',
      retryable: true,
    });
  });

  test('[CLI-3] an unexpected error is reported with its stack, as a defect of svc', () => {
    const failure = toFailure(new TypeError('x is not a function'));
    expect(failure.report).toMatchObject({ code: 'INTERNAL', exitCode: 1 });
    expect(failure.report.lines?.length).toBeGreaterThan(0);
    expect(JSON.parse(formatFailureJson(failure)).error.code).toBe('INTERNAL');
    expect(toFailure('text').message).toContain('text');
    const own = new CliFailure({ code: 'A', message: 'b', exitCode: 3 });
    expect(toFailure(own)).toBe(own);
  });
});

test('[CLI-9] a file that cannot be used is reported with path and reason, not as a defect of svc', async () => {
  const failure = toFailure(await readFile('/nowhere/at-all').catch((error: unknown) => error));
  expect(failure.report).toMatchObject({
    code: 'FILE_UNUSABLE',
    message: 'Cannot use /nowhere/at-all: no such file or directory (ENOENT).',
    exitCode: 1,
  });
});

describe('suggestions', () => {
  const ids = ['orders::create', 'orders::cancel', 'mail::send', 'mail::send_all', 'x::y'];

  test.each([
    ['orders::crate', ['orders::create']],
    ['orders::canate', ['orders::create', 'orders::cancel']],
    ['post::send', ['mail::send', 'mail::send_all']],
    ['x::z', ['x::y']],
    ['nothing::like_it', []],
  ])('[CLI-8] for %s, the suggestions are %j', (unknown, expected) => {
    expect(rankSuggestions(unknown, ids)).toEqual(expected);
  });
});

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
