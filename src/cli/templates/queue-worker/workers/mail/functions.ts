// Sends a mail to every user that signs up. The request is answered when the job is on disk; the mail is sent from the
// queue, with retries.

import { Fatal, type HttpReply, type HttpRequest, http, type SvcWorker } from 'svc-sdk';

const QUEUE = 'mail';

export type SendMail = (to: string, text: string, receipt: string) => Promise<void>;

/** `sendMail` is a parameter, so that a test can pass its own. */
export function register(svc: SvcWorker, sendMail: SendMail): void {
  // May run twice: the receipt is unique for each job and the same for all its attempts.
  svc.registerFunction(
    { id: 'mail::send', description: 'Sends one mail; called from the queue' },
    async ({ to }: { to: string }, { attempt, messageReceiptId = '', logger }) => {
      if (!to.includes('@')) throw new Fatal(`'${to}' is not an address`); // a retry would not help
      logger.info('Sending a mail', { to, attempt });
      await sendMail(to, 'Welcome!', messageReceiptId);
    },
  );

  const signUp = svc.registerFunction(
    { id: 'mail::sign_up', description: 'Takes an address and enqueues its mail' },
    async ({ body }: HttpRequest): Promise<HttpReply> => {
      const { to } = (body ?? {}) as { to?: unknown };
      if (typeof to !== 'string') return { status_code: 400, body: { error: 'Send {"to": "you@example.org"}.' } };
      const { messageReceiptId } = await svc.queue(QUEUE).enqueue('mail::send', { to });
      return { status_code: 202, body: { job: `/jobs/${messageReceiptId}` } };
    },
  );
  const showJob = svc.registerFunction(
    { id: 'mail::job', description: 'Returns the state of a job' },
    async ({ path_params }: HttpRequest) => ({ body: await svc.queue(QUEUE).job(path_params.id ?? '') }),
  );
  svc.registerTrigger({ ...http('POST', '/sign-up'), function_id: signUp });
  svc.registerTrigger({ ...http('GET', '/jobs/:id'), function_id: showJob });
}
