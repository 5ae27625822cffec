import { type EngineConnection, withEngine } from '../../engine/connection.ts';
import { type Context, defineCommand } from '../../kernel/command.ts';
import { EXIT, type ExitCode, usageFailure } from '../../kernel/failures.ts';
import { CONNECTION_FLAGS, type FlagTable } from '../../kernel/flags.ts';
import { isRecord, type JsonRecord, numberIn, recordsIn, textIn } from '../../text/records.ts';
import type { Column } from '../../text/table.ts';
import { isoText, timeText, withIsoTimes } from './queues.ts';

const FLAGS = {
  'discard-done': { kind: 'switch', help: 'Hand jobs over again, without those that are done.' },
  'run-again': { kind: 'switch', help: 'Hand jobs over again, all of them.' },
  ...CONNECTION_FLAGS,
} as const satisfies FlagTable;

export const queueRecover = defineCommand({
  name: 'queue recover',
  summary: 'Hand jobs over again after their Redis went back in time.',
  details: [
    'A Redis that was restored from a backup, or replaced by a replica that had less, would run finished jobs again. ' +
      'Engines notice that, hand no job over, and report which jobs they remember: those that run, and the last ' +
      '10 000 of the last hour that ended well. Without a flag the command only lists the remembered jobs.',
    'Jobs that the Redis has forgotten are lost: enqueue them again from where they came.',
  ],
  flags: FLAGS,
  formats: ['table', 'json', 'jsonl'],
  examples: [
    { line: 'svc queue recover', shows: 'Whether jobs are held back, and which ones would run again.' },
    { line: 'svc queue recover --discard-done', shows: 'Drops the jobs that are done, and hands the others over.' },
    { line: 'svc queue recover --run-again', shows: 'Hands all jobs over, also those that have run.' },
  ],
  exitCodes: [EXIT.failed, EXIT.timedOut, EXIT.unreachable, EXIT.refused],
  async run(context) {
    const { flags, output } = context;
    if (flags['discard-done'] && flags['run-again']) {
      throw usageFailure('--discard-done and --run-again exclude each other.');
    }
    return await withEngine(context, async (engine) => {
      if (!flags['discard-done'] && !flags['run-again']) return await show(context, engine);
      const doneJobs = flags['discard-done'] ? 'discard' : 'run_again';
      const answer = await engine.call('svc::queue::recover', { done_jobs: doneJobs });
      const discarded = isRecord(answer) ? (numberIn(answer, 'discarded') ?? 0) : 0;
      if (output.jsonAsked) output.printJson(answer);
      else
        output.note(
          `Jobs are handed over again.${flags['discard-done'] ? ` ${discarded} that were done are discarded.` : ''}`,
        );
      return EXIT.done;
    });
  },
});

async function show(context: Context<typeof FLAGS>, engine: EngineConnection): Promise<ExitCode> {
  const { output, terminal } = context;
  const found = await engine.call('engine::queue::recovery', {});
  if (output.jsonAsked || !isRecord(found)) {
    output.printJson(found);
    return EXIT.done;
  }
  if (found.is_needed !== true) {
    output.note('There is nothing to recover: jobs are handed over.');
    return EXIT.done;
  }
  const since = timeText(numberIn(found, 'held_back_since'), output, terminal);
  const missing = numberIn(found, 'changes_missing') ?? 0;
  output.warn(
    `The Redis of the queues has forgotten at least ${missing} changes (noticed ${since}). No job is handed over.`,
  );
  const engines = recordsIn(found, 'engines');
  const silent = engines.filter(({ has_reported: hasReported }) => hasReported !== true);
  const jobs = recordsIn(found, 'run_again');
  const total = numberIn(found, 'run_again_total') ?? 0;
  const ofAll = `${total} of ${numberIn(found, 'jobs') ?? 0} jobs would run again`;
  const asked = `${engines.length - silent.length} of ${engines.length} engines have reported what they remember`;
  output.note(`${ofAll}; ${asked}.${silent.length > 0 ? ' Run the command again to see what the others report.' : ''}`);
  const columns = [...COLUMNS, enqueued(context)];
  const records = jobs.map((job) => withIsoTimes(job, { enqueued_at: 'ms' }));
  if (jobs.length > 0) output.printRows({ columns, rows: jobs, records });
  if (total > jobs.length) output.note(`Only the first ${jobs.length} are listed.`);
  output.note('Continue with svc queue recover --discard-done, or with svc queue recover --run-again.');
  return EXIT.done;
}

function enqueued({ output, terminal }: Context<typeof FLAGS>): Column<JsonRecord> {
  return {
    name: 'enqueued_at',
    text: (row) => timeText(numberIn(row, 'enqueued_at'), output, terminal),
    raw: (row) => isoText(numberIn(row, 'enqueued_at')),
  };
}

const COLUMNS: readonly Column<JsonRecord>[] = [
  { name: 'messageReceiptId', text: (row) => textIn(row, 'messageReceiptId') },
  { name: 'queue', text: (row) => textIn(row, 'queue') },
  { name: 'function_id', cut: 'middle', text: (row) => textIn(row, 'function_id') },
  { name: 'state', text: (row) => textIn(row, 'state') },
];
