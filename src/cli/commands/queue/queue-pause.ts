// `svc queue pause` and `svc queue resume`.

import { withEngine } from '../../engine/connection.ts';
import { defineCommand, type Example } from '../../kernel/command.ts';
import { EXIT } from '../../kernel/failures.ts';
import { CONNECTION_FLAGS } from '../../kernel/flags.ts';
import { findQueue } from './queues.ts';

export const queuePause = switchCommand({
  name: 'pause',
  summary: 'Pause a queue: start no more of its jobs.',
  details: ['Running jobs finish, and the queue still accepts jobs. A queue stays paused after a restart.'],
  example: { line: 'svc queue pause mail', shows: 'Pauses the queue.' },
  state: 'paused',
});

export const queueResume = switchCommand({
  name: 'resume',
  summary: 'Resume a paused queue.',
  details: ['Does nothing when the queue is not paused.'],
  example: { line: 'svc queue resume mail', shows: 'Resumes the queue.' },
  state: 'resumed',
});

/** What differs between the two commands. */
interface SwitchWords {
  readonly name: 'pause' | 'resume';
  readonly summary: string;
  readonly details: readonly string[];
  readonly example: Example;
  readonly state: string;
}

function switchCommand({ name, summary, details, example, state }: SwitchWords) {
  return defineCommand({
    name: `queue ${name}`,
    summary,
    operands: { usage: '<queue>', min: 1, max: 1, help: 'The queue or topic, from svc queue list.' },
    details,
    flags: { ...CONNECTION_FLAGS },
    formats: ['table', 'json', 'jsonl'],
    examples: [example, { line: `${example.line} --json`, shows: 'The same for a script.' }],
    exitCodes: [EXIT.notFound, EXIT.timedOut, EXIT.unreachable, EXIT.refused],
    async run(context) {
      const { operands, output } = context;
      const [queue = ''] = operands;
      const answer = await withEngine(context, async (engine) => {
        await findQueue(engine, queue);
        return await engine.call(`engine::queue::${name}`, { queue });
      });
      if (output.jsonAsked) output.printJson(answer);
      else output.note(`'${queue}' is ${state}.`);
      return EXIT.done;
    },
  });
}
