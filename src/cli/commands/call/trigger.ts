import { ID_BYTES_MAX } from '../../../protocol/frames/limits.ts';
import { Enqueue, Void } from '../../../sdk/calls/actions.ts';
import { isSvcError, type SvcError } from '../../../sdk/calls/errors.ts';
import { callFailure } from '../../engine/call-failure.ts';
import { type EngineConnection, withEngine } from '../../engine/connection.ts';
import { type Context, defineCommand } from '../../kernel/command.ts';
import { type CliFailure, EXIT, type ExitCode, usageFailure } from '../../kernel/failures.ts';
import { CONFIRM_FLAGS, CONNECTION_FLAGS, type FlagTable } from '../../kernel/flags.ts';
import { stripUnsafe } from '../../text/display-text.ts';
import { isRecord, textIn } from '../../text/records.ts';
import { formatDuration } from '../../text/times.ts';
import { followJob } from '../queue/jobs.ts';
import { withIsoTimes } from '../queue/queues.ts';
import { editPayload, fillSkeleton, payloadSkeleton } from './edit-payload.ts';
import { parameterLines, requestSchemaOf, unknownFunction } from './function-details.ts';
import { readPayload } from './payload.ts';
import { type RepeatOutcome, repeatCalls } from './repeat-calls.ts';
import { CallTrace } from './traced-call.ts';

const FLAGS = {
  'function-id': { kind: 'text', placeholder: '<id>', help: 'The function id, instead of the first operand.' },
  payload: {
    kind: 'text',
    placeholder: '<json>',
    help: 'The payload as JSON; @file reads a file, - reads stdin. Default, without pairs: {}',
  },
  void: { kind: 'switch', help: 'Do not wait for the result; a failure is not reported.' },
  queue: { kind: 'text', placeholder: '<queue>', help: 'Deliver through this queue and print the receipt.' },
  wait: { kind: 'switch', help: 'With --queue: wait until the job is done or dead, and print its outcome.' },
  repeat: { kind: 'count', placeholder: '<n>', min: 1, max: 100_000, fallback: '1', help: 'Number of calls.' },
  concurrency: {
    kind: 'count',
    placeholder: '<n>',
    min: 1,
    max: 1_000,
    fallback: '1',
    help: 'With --repeat: calls at the same time.',
  },
  edit: {
    kind: 'switch',
    help: 'Write the payload in your editor (VISUAL, EDITOR), starting from what the function expects.',
  },
  'no-input': CONFIRM_FLAGS['no-input'],
  trace: { kind: 'switch', help: 'Draw the trace of the call on stderr afterwards.' },
  ...CONNECTION_FLAGS,
} as const satisfies FlagTable;

type TriggerContext = Context<typeof FLAGS>;

export const trigger = defineCommand({
  name: 'trigger',
  summary: 'Call a function and print its result.',
  operands: {
    usage: '<id> [payload | key=value ...]',
    min: 0,
    max: Number.POSITIVE_INFINITY,
    help: 'The payload as JSON, @file or -, or pairs: key=text, key:=json, key[]=item for lists, outer.inner=text.',
    kinds: ['function'],
  },
  details: [
    'Only the result goes to stdout, as JSON. The duration, the worker and the trace id go to stderr. Pairs override ' +
      'keys of --payload. With --repeat the results are printed one per line, as they arrive.',
    'With a function id, --help also shows what the function expects.',
  ],
  flags: FLAGS,
  formats: ['json', 'jsonl'],
  examples: [
    {
      line: 'svc trigger orders::create sku=a1 qty:=2 tags[]=new',
      shows: 'Sends {"sku":"a1","qty":2,"tags":["new"]}.',
    },
    { line: `svc trigger --function-id=orders::create --payload='{"sku":"a1"}'`, shows: 'The same with JSON.' },
    { line: 'svc trigger mail::send --payload @mail.json --queue mail', shows: 'Queues a job; prints the receipt.' },
    { line: 'svc trigger mail::send to=ann --queue mail --wait', shows: 'Waits until the job is done, or dead.' },
    { line: 'svc trigger orders::create --edit', shows: 'Opens your editor on what the function expects.' },
    {
      line: 'svc trigger orders::create sku=a1 --trace',
      shows: 'Also draws which calls it made, and how long each took.',
    },
    { line: 'svc trigger orders::list --repeat 100 --concurrency 8', shows: 'Calls it 100 times, 8 at a time.' },
  ],
  exitCodes: [EXIT.failed, EXIT.notFound, EXIT.timedOut, EXIT.unreachable, EXIT.refused],
  async run(context) {
    const { functionId, pairs } = readTarget(context);
    const prepared = await prepareCall(context, functionId, pairs);
    const call = context.flags.edit ? await edited(context, prepared) : prepared;
    const run = async (engine: EngineConnection): Promise<ExitCode> => {
      try {
        if (context.flags.wait) return await callAndFollow(context, engine, call);
        return context.flags.repeat === 1
          ? await callOnce(context, engine, call)
          : await callMany(context, engine, call);
      } catch (error) {
        throw isSvcError(error) ? await explainFailure(context, engine, call, error) : error;
      } finally {
        if (context.flags.trace) await call.trace?.show(engine, context);
      }
    };
    return await withEngine(context, run, { printsValues: true });
  },
  async explain(context) {
    const { functionId } = readTarget(context);
    const hasty = { ...context, flags: { ...context.flags, timeout: EXPLAIN_TIMEOUT_MS } };
    const detail = await withEngine(hasty, (engine) =>
      engine.call('engine::functions::info', { function_id: functionId }),
    );
    if (!isRecord(detail)) return undefined;
    const description = stripUnsafe(textIn(detail, 'description'));
    return [
      `${stripUnsafe(functionId)}${description === '' ? '' : `: ${description}`}`,
      ...parameterLines(requestSchemaOf(detail)),
    ];
  },
});

/** Help must appear quickly: a slow engine is left out of it. */
const EXPLAIN_TIMEOUT_MS = 2_000;

interface PreparedCall {
  readonly functionId: string;
  readonly payload: unknown;
  /** No payload was given in any form. */
  readonly isBare: boolean;
  readonly action: ReturnType<typeof Enqueue> | ReturnType<typeof Void> | undefined;
  /** Set for a single call only. */
  readonly trace: CallTrace | undefined;
}

function readTarget({ flags, operands }: TriggerContext): { functionId: string; pairs: readonly string[] } {
  const flagged = flags['function-id'];
  const [functionId, ...pairs] = flagged === undefined ? operands : [flagged, ...operands];
  if (functionId === undefined) throw usageFailure('No function given.', 'Use svc trigger <id>, or --function-id=<id>');
  if (flagged === undefined && functionId.includes('=')) {
    throw usageFailure(
      `'${functionId}' is a key=value pair; the function id comes first.`,
      'Use svc trigger <id> key=value',
    );
  }
  const bytes = Buffer.byteLength(functionId);
  if (bytes > ID_BYTES_MAX || functionId.trim() === '') {
    throw usageFailure(`The function id has ${bytes} bytes: expected 1 to ${ID_BYTES_MAX}, not only spaces.`);
  }
  return { functionId, pairs };
}

async function prepareCall(
  { flags, terminal }: TriggerContext,
  functionId: string,
  pairs: readonly string[],
): Promise<PreparedCall> {
  if (flags.void && flags.queue !== undefined) throw usageFailure('--void and --queue exclude each other.');
  if (flags.wait && (flags.queue === undefined || flags.repeat !== 1)) {
    throw usageFailure('--wait follows one job: it needs --queue and excludes --repeat.');
  }
  if (flags.trace && flags.repeat !== 1) throw usageFailure('--trace shows one call: it excludes --repeat.');
  if (flags.edit && (flags['no-input'] || !terminal.mayAsk)) {
    throw usageFailure('--edit needs a terminal.', 'Pass the payload with --payload.');
  }
  const queued = flags.queue === undefined ? undefined : Enqueue({ queue: flags.queue });
  const payload = await readPayload(flags.payload, pairs, terminal);
  const trace = flags.repeat === 1 ? new CallTrace() : undefined;
  const isBare = flags.payload === undefined && pairs.length === 0;
  return { functionId, payload, isBare, action: flags.void ? Void() : queued, trace };
}

/** Asks the engine for the schema before the editor opens, and keeps no connection open while the user writes. */
async function edited(context: TriggerContext, call: PreparedCall): Promise<PreparedCall> {
  const { functionId, payload: given, isBare } = call;
  const schema = await withEngine(context, async (engine) => {
    const unknown = await unknownFunction(engine, functionId);
    if (unknown !== undefined) throw unknown;
    const detail = await engine.call('engine::functions::info', { function_id: functionId });
    return isRecord(detail) ? requestSchemaOf(detail) : undefined;
  });
  const skeleton = payloadSkeleton(schema);
  const help = [`The payload of ${functionId}, as JSON.`, ...parameterLines(schema)].map(stripUnsafe);
  const payload = await editPayload(isBare ? skeleton : fillSkeleton(skeleton, given), help, context.terminal);
  return { ...call, payload };
}

async function callOnce(
  { flags, output, terminal }: TriggerContext,
  engine: EngineConnection,
  { functionId, payload, action, trace }: PreparedCall,
): Promise<ExitCode> {
  const startedMs = terminal.elapsedMs();
  const settings = { timeoutMs: flags.timeout, action, traceparent: trace?.traceparent };
  const result = await engine.call(functionId, payload, settings);
  const took = formatDuration(terminal.elapsedMs() - startedMs);
  // Without an answer there is no result; a document is printed only when JSON was requested.
  if (!flags.void || output.jsonAsked) output.printJson(result);
  const what = flags.void ? 'sent, not waited for' : flags.queue === undefined ? '' : `queued in ${flags.queue}`;
  const notes = [took, what, ...(await traceSummary(trace, engine, functionId, output))].filter((note) => note !== '');
  output.note(`${output.paintErr.green('✔')} ${notes.join('  ')}`);
  return EXIT.done;
}

/** A quiet command does not print them. */
async function traceSummary(
  trace: CallTrace | undefined,
  engine: EngineConnection,
  functionId: string,
  { quiet }: TriggerContext['output'],
): Promise<readonly string[]> {
  return trace === undefined || quiet ? [] : await trace.summary(engine, functionId);
}

/** Reports the outcome of the job; the queue drops the function's result. */
async function callAndFollow(
  { flags, output, terminal }: TriggerContext,
  engine: EngineConnection,
  { functionId, payload, action, trace }: PreparedCall,
): Promise<ExitCode> {
  const startedMs = terminal.elapsedMs();
  const settings = { timeoutMs: flags.timeout, action, traceparent: trace?.traceparent };
  const receipt = await engine.call(functionId, payload, settings);
  const id = isRecord(receipt) ? textIn(receipt, 'messageReceiptId') : '';
  output.note(`queued in ${flags.queue}: ${id}`);
  const job = await followJob(engine, id, flags.timeout);
  output.printJson(withIsoTimes(job, { enqueued_at: 'ms', finished_at: 'ms', due_at: 'ms' }));
  const took = formatDuration(terminal.elapsedMs() - startedMs);
  const isDone = job.state === 'done';
  const notes = [took, textIn(job, 'state'), ...(await traceSummary(trace, engine, functionId, output))];
  output.note(`${isDone ? output.paintErr.green('✔') : output.paintErr.red('✘')} ${notes.join('  ')}`);
  if (isDone) return EXIT.done;
  output.note(`The job is a dead letter. Show it: svc queue dlq show ${id}. Retry it: svc queue dlq redrive ${id}`);
  return EXIT.failed;
}

async function callMany(
  { flags, output, terminal }: TriggerContext,
  engine: EngineConnection,
  { functionId, payload, action }: PreparedCall,
): Promise<ExitCode> {
  const results: unknown[] = [];
  const outcome = await repeatCalls({
    repeat: flags.repeat,
    concurrency: flags.concurrency,
    call: () => engine.call(functionId, payload, { timeoutMs: flags.timeout, action }),
    onResult: (result) => {
      if (output.jsonAsked && output.format === 'json') results.push(result ?? null);
      else if (!flags.void) output.printLine(result);
    },
    codeOf: (error) => (isSvcError(error) ? error.code : 'INTERNAL'),
    elapsedMs: terminal.elapsedMs,
  });
  if (output.jsonAsked && output.format === 'json') output.printJson(repeatDocument(outcome, results));
  output.note(repeatSummary(outcome));
  if (outcome.failed > 0) throw outcome.firstError;
  return EXIT.done;
}

function repeatDocument(outcome: RepeatOutcome, results: readonly unknown[]) {
  const { calls, succeeded, failed, durationMs, latencyMs, errors } = outcome;
  return {
    calls,
    succeeded,
    failed,
    duration_ms: durationMs,
    latency_ms: latencyMs,
    errors: Object.fromEntries(errors),
    results,
  };
}

function repeatSummary({ calls, failed, durationMs, latencyMs, errors }: RepeatOutcome): string {
  const rate = Math.round((calls * 1_000) / Math.max(durationMs, 1));
  const times = Object.entries(latencyMs).map(([name, ms]) => `${name} ${formatDuration(ms)}`);
  const codes = [...errors].map(([code, count]) => `${stripUnsafe(code)} ${count}`);
  const failures = failed === 0 ? 'none failed' : `${failed} failed (${codes.join(', ')})`;
  return `${calls} calls in ${formatDuration(durationMs)}  ${rate}/s  ${failures}\n  ${times.join('  ')}`;
}

async function explainFailure(
  { output }: TriggerContext,
  engine: EngineConnection,
  { functionId, trace }: PreparedCall,
  error: SvcError,
): Promise<CliFailure> {
  // The code may come from a call that the handler made; then this function does exist.
  const unknown = error.code === 'function_not_found' ? await unknownFunction(engine, functionId) : undefined;
  if (unknown !== undefined) return unknown;
  const hasTrace = (await trace?.isKept(engine)) ?? false;
  return callFailure(error, { functionId, verbose: output.verbose, hasTrace });
}
