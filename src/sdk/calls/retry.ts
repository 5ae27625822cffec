// Repeats a call as its `retry` option says (SDK-12): only after errors that guarantee that nothing was executed, and
// never past the deadline of the whole call.

import { retryDelayMs } from '../connection/backoff.ts';
import type { Platform, PlatformClock } from '../worker/platform.ts';
import type { RetryOptions } from './call-types.ts';
import { isSvcError, SvcError } from './errors.ts';

export async function callWithRetry(
  { clock, random }: Pick<Platform, 'clock' | 'random'>,
  retry: RetryOptions,
  { timeoutMs, signal }: { readonly timeoutMs: number; readonly signal: AbortSignal | undefined },
  call: (timeoutMs: number) => Promise<unknown>,
): Promise<unknown> {
  checkRetry(retry);
  const { attempts, backoff_ms } = retry;
  const deadlineMs = clock.monotonicMs() + timeoutMs;
  for (let failures = 1; ; failures++) {
    try {
      return await call(Math.max(1, Math.ceil(deadlineMs - clock.monotonicMs())));
    } catch (error) {
      if (!isSvcError(error) || !error.retryable || failures >= attempts) throw error;
      const delayMs = retryDelayMs(backoff_ms, failures, random);
      if (clock.monotonicMs() + delayMs >= deadlineMs) throw error;
      await pause(clock, delayMs, signal);
    }
  }
}

function checkRetry({ attempts, backoff_ms }: RetryOptions): void {
  if (!Number.isSafeInteger(attempts) || attempts < 1 || attempts > ATTEMPTS_MAX) {
    throw refuse('attempts', attempts, `a whole number from 1 to ${ATTEMPTS_MAX}`);
  }
  if (!Number.isFinite(backoff_ms) || backoff_ms < 0) throw refuse('backoff_ms', backoff_ms, 'milliseconds from 0');
}

const ATTEMPTS_MAX = 100;

function refuse(field: string, value: number, expected: string): SvcError {
  return new SvcError('INVALID_ARGUMENTS', `retry.${field}: ${value}, expected ${expected}`);
}

/** Ends early when the call is cancelled; the next attempt then fails at once. */
function pause(clock: PlatformClock, delayMs: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve) => {
    const end = (): void => {
      cancel();
      signal?.removeEventListener('abort', end);
      resolve();
    };
    const cancel = clock.after(delayMs, end);
    signal?.addEventListener('abort', end);
  });
}
