// Whoever signs up gets a mail. The request is answered as soon as the job is on disk; the mail is sent from the queue,
// and tried again when that fails.

import { Fatal, type HttpReply, type HttpRequest, http, type SvcWorker } from 'svc-sdk';

const QUEUE = 'mail';

export type SendMail = (to: string, text: string, receipt: string) => Promise<void>;

/** `sendMail` comes from outside, so that a test can put its own in place. */
export function register(svc: SvcWorker, sendMail: SendMail): void {
  // May run twice: the receipt is the same for every attempt, and tells one job from another.
  svc.registerFunction(
    { id: 'mail::send', description: 'Sends one mail; called from the queue' },
    async ({ to }: { to: string }, { attempt, messageReceiptId = '' }) => {
      if (!to.includes('@')) throw new Fatal(`'${to}' is no address`); // no attempt will make it one
      console.log(`attempt ${attempt} for ${to}`);
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
    { id: 'mail::job', description: 'What became of a job' },
    async ({ path_params }: HttpRequest) => ({ body: await svc.queue(QUEUE).job(path_params.id ?? '') }),
  );
  svc.registerTrigger({ ...http('POST', '/sign-up'), function_id: signUp });
  svc.registerTrigger({ ...http('GET', '/jobs/:id'), function_id: showJob });
}
