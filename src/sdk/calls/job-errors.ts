// Errors with which the handler of a queued job controls its queue (SDK-6).

import { SvcError } from './errors.ts';

/**
 * Thrown by the handler of a queued job: this attempt failed, and the next one starts after the given time instead of
 * the queue's own backoff. The limit is 30 days. The failed attempt counts.
 *
 * @example
 * import { registerWorker, RetryLater } from 'svc-sdk';
 *
 * registerWorker().registerFunction('crm::push', async (lead: { id: string }) => {
 *   const response = await fetch('https://crm.example.org/leads', { method: 'POST', body: JSON.stringify(lead) });
 *   if (response.status === 429) throw new RetryLater({ after_ms: 60_000 });
 * });
 */
export class RetryLater extends SvcError {
  /** Travels to the queue in addition to code and message. */
  readonly after_ms: number;

  constructor({ after_ms, message = 'try again later' }: { readonly after_ms: number; readonly message?: string }) {
    super('RETRY_LATER', message);
    if (!(Number.isFinite(after_ms) && after_ms >= 0)) {
      throw new SvcError('INVALID_ARGUMENTS', `RetryLater: after_ms is ${after_ms}, expected milliseconds from 0`);
    }
    this.after_ms = after_ms;
  }
}

/**
 * Thrown by the handler of a queued job: another attempt is of no use. The job becomes a dead letter at once.
 *
 * @example
 * import { Fatal, registerWorker } from 'svc-sdk';
 *
 * registerWorker().registerFunction('mail::send', ({ to }: { to: string }) => {
 *   if (!to.includes('@')) throw new Fatal(`'${to}' is no address`);
 * });
 */
export class Fatal extends SvcError {
  constructor(message: string) {
    super('FATAL', message);
  }
}
