import { Enqueue } from '../../sdk/actions.ts';
import { readPayload } from '../call-payload.ts';
import { type Context, defineCommand } from '../command.ts';
import { type EngineConnection, withEngine } from '../connection.ts';
import { CONNECTION_FLAGS } from '../connection-flags.ts';
import { EXIT, type ExitCode } from '../exit-codes.ts';
import { usageFailure } from '../failures.ts';
import type { FlagTable } from '../flags.ts';
import { findQueue } from '../queue-facts.ts';
import { textIn } from '../records.ts';

const FLAGS = {
  function: { kind: 'text', placeholder: '<id>', help: 'The function of the job; a queue needs it, a topic has none.' },
  delay: { kind: 'duration', placeholder: '<duration>', maxMs: 365 * 86_400_000, help: 'Not before this has passed.' },
  priority: { kind: 'count', placeholder: '<n>', min: 0, max: 255, help: 'Higher ones run first.' },
  'idempotency-key': { kind: 'text', placeholder: '<key>', help: 'Given twice, it is the same job.' },
  ...CONNECTION_FLAGS,
} as const satisfies FlagTable;

export const queuePublish = defineCommand({
  name: 'queue publish',
  summary: 'Put a job into a queue, or a message under a topic.',
  operands: { usage: '<queue> [payload]', min: 1, max: 2, help: 'The payload as JSON, @file or -; without it {}.' },
  details: ['A job prints its receipt; a message under a topic prints nothing, or null with --json.'],
  flags: FLAGS,
  formats: ['json', 'jsonl'],
  examples: [
    { line: `svc queue publish mail '{"to":"ann"}' --function mail::send`, shows: 'A job; prints its receipt.' },
    { line: 'svc queue publish user.created @user.json', shows: 'A copy for every subscriber of the topic.' },
  ],
  exitCodes: [EXIT.notFound, EXIT.timedOut, EXIT.unreachable, EXIT.refused],
  async run(context) {
    const [name = '', source] = context.operands;
    const payload = await readPayload(source, [], context.terminal);
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

/** A topic needs no subscriber: what is published under it waits for the first one. */
async function publish(
  { flags, output }: Context<typeof FLAGS>,
  engine: EngineConnection,
  topic: string,
  data: unknown,
): Promise<ExitCode> {
  const given = (['delay', 'priority', 'idempotency-key'] as const).find((name) => flags[name] !== undefined);
  if (given !== undefined) throw usageFailure(`--${given} is for jobs of a queue.`, 'Name one with --function <id>.');
  const answer = await engine.call('engine::queue::topic_stats', { topic });
  if (typeof answer === 'object' && answer !== null && 'config' in answer && answer.config !== null) {
    throw usageFailure(`'${topic}' is a queue: its jobs need a function.`, 'Name it with --function <id>.');
  }
  const result = await engine.call('svc::durable::publish', { topic, data });
  if (output.jsonAsked) output.printJson(result);
  const stats = typeof answer === 'object' && answer !== null ? { ...answer } : {};
  const subscribers = textIn(stats, 'consumer_count');
  output.note(subscribers === '0' ? 'kept for the first subscriber' : `published to ${subscribers} subscribers`);
  return EXIT.done;
}
