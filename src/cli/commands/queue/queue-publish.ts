import { Enqueue } from '../../../sdk/calls/actions.ts';
import { type EngineConnection, withEngine } from '../../engine/connection.ts';
import { type Context, defineCommand } from '../../kernel/command.ts';
import { EXIT, type ExitCode, usageFailure } from '../../kernel/failures.ts';
import { CONNECTION_FLAGS, type FlagTable } from '../../kernel/flags.ts';
import { textIn } from '../../text/records.ts';
import { readPayload } from '../call/payload.ts';
import { findQueue } from './queues.ts';

const FLAGS = {
  function: {
    kind: 'text',
    placeholder: '<id>',
    help: 'The function of the job. Required for a queue; not for a topic.',
  },
  delay: {
    kind: 'duration',
    placeholder: '<duration>',
    maxMs: 365 * 86_400_000,
    help: 'Start the job after this time.',
  },
  priority: { kind: 'count', placeholder: '<n>', min: 0, max: 255, help: 'Jobs with a higher priority run first.' },
  topic: { kind: 'switch', help: 'It is a topic, also if no function subscribes to it yet.' },
  'idempotency-key': { kind: 'text', placeholder: '<key>', help: 'A second job with the same key is not added.' },
  ...CONNECTION_FLAGS,
} as const satisfies FlagTable;

export const queuePublish = defineCommand({
  name: 'queue publish',
  summary: 'Put a job into a queue, or publish to a topic.',
  operands: {
    usage: '<queue> [payload | key=value ...]',
    min: 1,
    max: Number.POSITIVE_INFINITY,
    help: 'The payload as JSON, @file, - or pairs. Default: {}.',
  },
  details: ['For a job the receipt is printed; for a topic nothing, or null with --json.'],
  flags: FLAGS,
  formats: ['json', 'jsonl'],
  examples: [
    { line: 'svc queue publish mail to=ann --function mail::send', shows: 'Queues a job; prints its receipt.' },
    { line: 'svc queue publish user.created @user.json --topic', shows: 'Publishes to every subscriber of the topic.' },
  ],
  exitCodes: [EXIT.notFound, EXIT.timedOut, EXIT.unreachable, EXIT.refused],
  async run(context) {
    const [name = '', ...given] = context.operands;
    const payload = await readPayload(undefined, given, context.terminal);
    return await withEngine(context, (engine) =>
      context.flags.function === undefined
        ? publish(context, engine, name, payload)
        : enqueue(context, engine, { queue: name, functionId: context.flags.function, payload }),
    );
  },
});

async function enqueue(
  { flags, output }: Context<typeof FLAGS>,
  engine: EngineConnection,
  { queue, functionId, payload }: { queue: string; functionId: string; payload: unknown },
): Promise<ExitCode> {
  await findQueue(engine, queue);
  const action = Enqueue({
    queue,
    ...(flags.delay !== undefined && { delay_ms: flags.delay }),
    ...(flags.priority !== undefined && { priority: flags.priority }),
    ...(flags['idempotency-key'] !== undefined && { idempotency_key: flags['idempotency-key'] }),
  });
  output.printJson(await engine.call(functionId, payload, { action }));
  return EXIT.done;
}

/** A topic needs no subscriber: published data is kept for the first one. */
async function publish(
  { flags, output }: Context<typeof FLAGS>,
  engine: EngineConnection,
  topic: string,
  data: unknown,
): Promise<ExitCode> {
  const given = (['delay', 'priority', 'idempotency-key'] as const).find((name) => flags[name] !== undefined);
  if (given !== undefined)
    throw usageFailure(`--${given} needs a queue.`, 'Give the function of the job with --function <id>.');
  // A name that nothing knows is more often a typo than a topic that waits for its first subscriber.
  if (!flags.topic) await findQueue(engine, topic, 'If it is meant as a new topic, add --topic.');
  const answer = await engine.call('engine::queue::topic_stats', { topic });
  if (typeof answer === 'object' && answer !== null && 'config' in answer && answer.config !== null) {
    throw usageFailure(`'${topic}' is a queue: its jobs need a function.`, 'Give it with --function <id>.');
  }
  const result = await engine.call('svc::durable::publish', { topic, data });
  if (output.jsonAsked) output.printJson(result);
  const stats = typeof answer === 'object' && answer !== null ? { ...answer } : {};
  const subscribers = textIn(stats, 'consumer_count');
  output.note(subscribers === '0' ? 'kept for the first subscriber' : `published to ${subscribers} subscribers`);
  return EXIT.done;
}
