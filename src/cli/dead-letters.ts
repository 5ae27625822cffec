// Dead letters as the commands below `svc queue dlq` choose them: by receipt, by error, by age, or all of them.

import { isErrorMeant } from '../core/queue/fold-error.ts';
import { isSvcError } from '../sdk/errors.ts';
import type { EngineConnection } from './connection.ts';
import { EXIT } from './exit-codes.ts';
import { CliFailure, usageFailure } from './failures.ts';
import type { FlagTable, FlagValues } from './flags.ts';
import { findJob, findQueue } from './queue-facts.ts';
import { isRecord, type JsonRecord, numberIn, textIn } from './records.ts';

export const SELECTION_FLAGS = {
  queue: { kind: 'text', placeholder: '<queue>', help: 'Of this queue or topic only; else of all of them.' },
  all: { kind: 'switch', help: 'Every dead letter.' },
  error: {
    kind: 'text',
    placeholder: '<text>',
    help: 'Those whose error holds the text; groups as svc queue dlq list --group-by error prints them.',
  },
  'older-than': {
    kind: 'duration',
    placeholder: '<duration>',
    maxMs: 366 * 86_400_000,
    help: 'Those that failed longer ago than this.',
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

/** Queues and topics that have dead letters; one that is named must be there, and may have none. */
export async function queuesWithDeadLetters(engine: EngineConnection, name: string | undefined): Promise<string[]> {
  if (name !== undefined) return [textIn(await findQueue(engine, name), 'name')];
  const answer = await engine.call('engine::queue::dlq_topics', {});
  return Array.isArray(answer) ? answer.filter(isRecord).map((row) => textIn(row, 'topic')) : [];
}

/** What receipts and flags choose, oldest first. Exactly one way of choosing must have been taken. */
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
        `'${receipts[0]}' is taken for a receipt, and receipts exclude --all, --error and --older-than.`,
        'A queue is named with --queue <queue>.',
      );
    }
    return await Promise.all(receipts.map((receipt) => chooseLetter(engine, receipt).catch(explainOperand)));
  }
  if (flags.all && isFiltered) throw usageFailure('--all excludes --error and --older-than.');
  if (!flags.all && !isFiltered) {
    throw usageFailure(
      'Nothing chosen.',
      'Name receipts, or give --all, --error <text> or --older-than <duration>, with --queue <queue> of one queue.',
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

/** `queue dlq list` takes the name of a queue at this place; so the one that was given may be one. */
function explainOperand(error: unknown): never {
  if (!isSvcError(error, 'NOT_FOUND')) throw error;
  throw new CliFailure({
    code: error.code,
    message: error.message,
    exitCode: EXIT.notFound,
    hint: 'Receipts stand in: svc queue dlq list. All letters of one queue: --queue <queue> --all',
  });
}

/** Throws the failure for a receipt of no dead letter. */
export async function chooseLetter(engine: EngineConnection, receipt: string): Promise<ChosenLetter> {
  const job = await findJob(engine, receipt);
  const state = textIn(job, 'state');
  if (state === 'dead') return { queue: textIn(job, 'queue'), id: receipt };
  throw new CliFailure({
    code: 'NOT_FOUND',
    message: `The job ${receipt} is no dead letter: its state is ${state}.`,
    exitCode: EXIT.notFound,
    hint: 'List dead letters with: svc queue dlq list',
    details: { receipt, state },
  });
}
