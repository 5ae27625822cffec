// How the `svc queue dlq` commands select dead letters: by receipt, by error, by age, or all of them.

import { isErrorMeant } from '../../../core/queue/error-groups.ts';
import { isSvcError } from '../../../sdk/calls/errors.ts';
import type { EngineConnection } from '../../engine/connection.ts';
import { CliFailure, EXIT, usageFailure } from '../../kernel/failures.ts';
import type { FlagTable, FlagValues } from '../../kernel/flags.ts';
import { isRecord, type JsonRecord, numberIn, textIn } from '../../text/records.ts';
import { findJob } from './jobs.ts';
import { findQueue } from './queues.ts';

export const SELECTION_FLAGS = {
  queue: { kind: 'text', placeholder: '<queue>', help: 'Only this queue or topic. Without it, all of them.' },
  all: { kind: 'switch', help: 'Every dead letter.' },
  error: {
    kind: 'text',
    placeholder: '<text>',
    help: 'Those whose error contains the text, or a group from svc queue dlq list --group-by error.',
  },
  'older-than': {
    kind: 'duration',
    placeholder: '<duration>',
    maxMs: 366 * 86_400_000,
    help: 'Those that failed longer ago than this time.',
  },
} as const satisfies FlagTable;

type Selection = FlagValues<typeof SELECTION_FLAGS>;

export interface ChosenLetter {
  readonly queue: string;
  readonly id: string;
}

const PAGE_ROWS = 1_000;

/** Rows of a queue, newest first, without their payloads. */
export async function* deadLettersOf(engine: EngineConnection, queue: string): AsyncGenerator<JsonRecord> {
  for (let offset = 0; ; offset += PAGE_ROWS) {
    const page = { topic: queue, offset, limit: PAGE_ROWS, payloads: false };
    const answer = await engine.call('engine::queue::dlq_messages', page);
    const rows = Array.isArray(answer) ? answer.filter(isRecord) : [];
    yield* rows;
    if (rows.length === 0) return;
  }
}

/** Queues and topics that have dead letters; a named one must exist, and may have none. */
export async function queuesWithDeadLetters(engine: EngineConnection, name: string | undefined): Promise<string[]> {
  if (name !== undefined) return [textIn(await findQueue(engine, name), 'name')];
  const answer = await engine.call('engine::queue::dlq_topics', {});
  return Array.isArray(answer) ? answer.filter(isRecord).map((row) => textIn(row, 'topic')) : [];
}

/** The letters that receipts or flags select, oldest first. Exactly one way to select must be used. */
export async function chooseLetters(
  engine: EngineConnection,
  receipts: readonly string[],
  flags: Selection,
  nowMs: number,
): Promise<ChosenLetter[]> {
  const { error, 'older-than': olderThanMs } = flags;
  const isFiltered = error !== undefined || olderThanMs !== undefined;
  if (receipts.length > 0) {
    if (flags.all || isFiltered) {
      throw usageFailure(
        `'${receipts[0]}' is read as a receipt. Receipts exclude --all, --error and --older-than.`,
        'Give the name of a queue with --queue <queue>.',
      );
    }
    return await Promise.all(receipts.map((receipt) => chooseLetter(engine, receipt).catch(explainOperand)));
  }
  if (flags.all && isFiltered) throw usageFailure('--all excludes --error and --older-than.');
  if (!flags.all && !isFiltered) {
    throw usageFailure(
      'No dead letters selected.',
      'Give receipts, or --all, --error <text> or --older-than <duration>; --queue <queue> limits them to one queue.',
    );
  }
  const chosen = new Map<string, ChosenLetter>();
  for (const queue of await queuesWithDeadLetters(engine, flags.queue)) {
    for await (const row of deadLettersOf(engine, queue)) {
      const id = textIn(row, 'id');
      const failedMs = (numberIn(row, 'failed_at') ?? 0) * 1_000;
      const isOld = olderThanMs === undefined || failedMs <= nowMs - olderThanMs;
      if (isOld && isErrorMeant(textIn(row, 'error'), error ?? '')) chosen.set(id, { queue, id });
    }
  }
  return [...chosen.values()].reverse();
}

/** `queue dlq list` takes the name of a queue at this place, so the operand may be a queue by mistake. */
function explainOperand(error: unknown): never {
  if (!isSvcError(error, 'NOT_FOUND')) throw error;
  throw new CliFailure({
    code: error.code,
    message: error.message,
    exitCode: EXIT.notFound,
    hint: 'List receipts with: svc queue dlq list. For all letters of one queue use --queue <queue> --all',
  });
}

/** Throws the failure for a receipt of no dead letter. */
export async function chooseLetter(engine: EngineConnection, receipt: string): Promise<ChosenLetter> {
  const job = await findJob(engine, receipt);
  const state = textIn(job, 'state');
  if (state === 'dead') return { queue: textIn(job, 'queue'), id: receipt };
  throw new CliFailure({
    code: 'NOT_FOUND',
    message: `The job ${receipt} is not a dead letter: its state is ${state}.`,
    exitCode: EXIT.notFound,
    hint: 'List dead letters with: svc queue dlq list',
    details: { receipt, state },
  });
}
