// Jobs that another engine of the cluster runs, or has run: only that engine knows their progress, and their end.

import type { ShownJob } from '../../console/api/builtin-answers.ts';
import { isShownJob } from '../../generated/cluster-values.ts';
import { rawJson } from '../../protocol/json/byte-string.ts';
import { Payload } from '../../protocol/payload/payload.ts';
import type { RouterPort } from '../../router/port.ts';
import { type AnswersOfEngines, parseAnswer } from '../../router/remote/ask-engines.ts';

type Port = Pick<RouterPort, 'others'>;

/** `undefined`: no other engine has anything to add. */
export async function jobElsewhere(router: Port, messageReceiptId: string): Promise<ShownJob | undefined> {
  const answers = await asked(router, 'engine::queue::job', { messageReceiptId });
  const jobs = answers.map(({ json }) => parseAnswer(json)).filter(isShownJob);
  return jobs.find(({ progress, finished_at: endedAt }) => progress !== undefined || endedAt !== undefined) ?? jobs[0];
}

/** Whether another engine runs the job. */
export async function reportProgressElsewhere(
  router: Port,
  messageReceiptId: string,
  value: unknown,
): Promise<boolean> {
  const answers = await asked(router, 'engine::queue::progress', { messageReceiptId, value });
  return answers.length > 0;
}

async function asked(router: Port, functionId: string, payload: object): Promise<AnswersOfEngines['parts']> {
  const answers = await router.others.askEngines(functionId, Payload.ofText(rawJson(payload)));
  return answers?.parts ?? [];
}
