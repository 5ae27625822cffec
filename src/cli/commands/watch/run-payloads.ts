// `svc run show` and `svc run again`: the input and the output of one run, where the engine keeps them.

import { parseExactJson } from '../../../core/calls/exact-json.ts';
import {
  explainGaps,
  explainMissing,
  inputForAgain,
  isComplete,
  stillRedacted,
} from '../../../core/telemetry/payloads/explain-payloads.ts';
import type { PayloadsAnswer } from '../../../core/telemetry/payloads/payloads-answer.ts';
import type { StoredPayload } from '../../../core/telemetry/payloads/stored-payload.ts';
import type { TreeSpan } from '../../../core/telemetry/spans/trace-tree.ts';
import { isSvcError } from '../../../sdk/calls/errors.ts';
import { callFailure } from '../../engine/call-failure.ts';
import { type EngineConnection, withEngine } from '../../engine/connection.ts';
import { type Context, defineCommand } from '../../kernel/command.ts';
import { CliFailure, EXIT, usageFailure } from '../../kernel/failures.ts';
import { CONFIRM_FLAGS, CONNECTION_FLAGS, type FlagTable } from '../../kernel/flags.ts';
import { stripUnsafe } from '../../text/display-text.ts';
import { refuseNumberLoss } from '../../text/number-loss.ts';
import { isRecord, numberIn, textIn, textsIn } from '../../text/records.ts';
import { formatDuration } from '../../text/times.ts';
import { editPayload } from '../call/edit-payload.ts';
import { explainNoMemory, findTraceId, flatSpans, readTrace } from './spans.ts';

const OPERANDS = {
  usage: '<trace> [function]',
  min: 1,
  max: 2,
  help: 'The trace of the run (its first digits are enough, or last), and the function where it called several.',
  kinds: ['trace', 'function'],
} as const;

interface FoundRun {
  readonly span: TreeSpan;
  readonly functionId: string;
  readonly payloads: PayloadsAnswer;
}

export const runShow = defineCommand({
  name: 'run show',
  summary: 'Show the input and the output of one run.',
  operands: { ...OPERANDS, kinds: [...OPERANDS.kinds] },
  details: [
    'The engine keeps them as payloads of svc-observability says: of no call, of those that failed, of a share, or ' +
      'of all. Secrets are redacted by the names of their keys.',
  ],
  flags: { ...CONNECTION_FLAGS },
  formats: ['json', 'jsonl'],
  examples: [
    { line: 'svc run show last', shows: 'What the newest call got and answered.' },
    { line: 'svc run show 4bf92f35 mail::send', shows: 'The call of mail::send in that trace.' },
  ],
  exitCodes: [EXIT.notFound, EXIT.timedOut, EXIT.unreachable, EXIT.refused],
  async run(context) {
    const { output } = context;
    const { span, functionId, payloads } = await withEngine(context, (engine) => findRun(engine, context.operands));
    if (payloads.missing !== null) throw notKept(payloads);
    const { input, output: result } = payloads;
    output.printJson({
      function_id: functionId,
      trace_id: span.trace_id,
      span_id: span.span_id,
      status: span.pending === true ? 'pending' : span.status,
      duration_ms: span.duration_ms,
      error: span.status_description ?? null,
      input: shown(input),
      output: shown(result),
    });
    for (const [name, payload] of [
      ['Input', input],
      ['Output', result],
    ] as const) {
      for (const sentence of payload === null ? [] : explainGaps(payload)) output.note(`${name}: ${sentence}`);
    }
    return EXIT.done;
  },
});

function shown(payload: StoredPayload | null) {
  if (payload === null) return null;
  const { json, ...rest } = payload;
  return { value: json === null ? null : parseExactJson(json), ...rest };
}

const AGAIN_FLAGS = {
  edit: { kind: 'switch', help: 'Change the input in your editor (VISUAL, EDITOR) first.' },
  'no-input': CONFIRM_FLAGS['no-input'],
  ...CONNECTION_FLAGS,
} as const satisfies FlagTable;

export const runAgain = defineCommand({
  name: 'run again',
  summary: 'Call the function of a run again, with the same input.',
  operands: { ...OPERANDS, kinds: [...OPERANDS.kinds] },
  details: [
    'An input of which a part was redacted or cut is never sent as it is: your editor opens and names what is ' +
      'missing. Without a terminal the command ends with an error.',
  ],
  flags: AGAIN_FLAGS,
  formats: ['json', 'jsonl'],
  examples: [
    { line: 'svc run again last', shows: 'Repeats the newest call.' },
    { line: 'svc run again 4bf92f35 mail::send --edit', shows: 'Corrects its input first.' },
  ],
  exitCodes: [EXIT.failed, EXIT.notFound, EXIT.timedOut, EXIT.unreachable, EXIT.refused],
  async run(context) {
    const { flags, output, terminal } = context;
    const { functionId, payloads } = await withEngine(context, (engine) => findRun(engine, context.operands));
    const payload = await inputFor(context, functionId, payloads);
    const startedMs = terminal.elapsedMs();
    const result = await withEngine(
      context,
      async (engine) => {
        try {
          return await engine.call(functionId, payload, { timeoutMs: flags.timeout });
        } catch (error) {
          throw isSvcError(error)
            ? callFailure(error, { functionId, verbose: output.verbose, hasTrace: false })
            : error;
        }
      },
      { printsValues: true },
    );
    output.printJson(result);
    output.note(`${output.paintErr.green('✔')} ${formatDuration(terminal.elapsedMs() - startedMs)}`);
    return EXIT.done;
  },
});

async function inputFor(
  { flags, output, terminal }: Context<typeof AGAIN_FLAGS>,
  functionId: string,
  payloads: PayloadsAnswer,
): Promise<unknown> {
  const { input } = payloads;
  if (input === null) throw notKept(payloads);
  const gaps = explainGaps(input);
  if (input.json === null) throw incomplete(gaps);
  const text = inputForAgain(input.json, input.channels);
  refuseNumberLoss(text, 'The input of the run');
  const value: unknown = JSON.parse(text);
  if (isComplete(input) && !flags.edit) {
    for (const sentence of gaps) output.note(sentence);
    return value;
  }
  if (flags['no-input'] || !terminal.mayAsk) {
    throw flags.edit && gaps.length === 0 ? usageFailure('--edit needs a terminal.') : incomplete(gaps);
  }
  const help = [`The input of an earlier run of ${functionId}, as JSON.`, ...gaps].map(stripUnsafe);
  const edited = await editPayload(value, help, terminal);
  const left = stillRedacted(edited, input.redacted);
  if (left.length > 0) throw incomplete(explainGaps({ ...input, redacted: left, channels: [], cut_at: null }));
  return edited;
}

function incomplete(gaps: readonly string[]): CliFailure {
  return new CliFailure({
    code: 'PAYLOAD_INCOMPLETE',
    message: ['The input of the run is not complete: nothing was called.', ...gaps].join(' '),
    exitCode: EXIT.failed,
    hint: 'Fill in what is missing in a terminal, or pass the payload with: svc trigger <id> --payload @file',
  });
}

function notKept(payloads: PayloadsAnswer): CliFailure {
  return new CliFailure({
    code: 'PAYLOAD_NOT_KEPT',
    message: `The engine has no input of this run. ${explainMissing(payloads)}`,
    exitCode: EXIT.notFound,
  });
}

/** The call of that function in the trace, else its first call. Of several, one that failed, else the last. */
async function findRun(engine: EngineConnection, [wanted = '', asked]: readonly string[]): Promise<FoundRun> {
  try {
    const spans = flatSpans(await readTrace(engine, await findTraceId(engine, wanted)));
    const calls = spans.filter(({ name }) => name.startsWith(CALL));
    const functionId = asked ?? calls[0]?.name.slice(CALL.length);
    const own = calls.filter(({ name }) => name === `${CALL}${functionId}`);
    const span = own.findLast(({ status }) => status === 'error') ?? own.at(-1);
    if (span === undefined || functionId === undefined) throw noSuchCall(wanted, asked, calls);
    const place = { trace_id: span.trace_id, span_id: span.span_id };
    return { span, functionId, payloads: readPayloads(await engine.call('engine::traces::payloads', place)) };
  } catch (error) {
    throw explainNoMemory(error);
  }
}

const CALL = 'call ';

function noSuchCall(wanted: string, asked: string | undefined, calls: readonly TreeSpan[]): CliFailure {
  const ids = [...new Set(calls.map(({ name }) => name.slice(CALL.length)))];
  return new CliFailure({
    code: 'NOT_FOUND',
    message: asked === undefined ? `Trace '${wanted}' has no call.` : `Trace '${wanted}' has no call of ${asked}.`,
    exitCode: EXIT.notFound,
    ...(ids.length > 0 && { hint: `It has calls of: ${ids.join(', ')}` }),
  });
}

const MODES = ['off', 'errors', 'sampled', 'all'] as const;
const REASONS = ['not_a_call', 'of_the_engine', 'off', 'succeeded', 'not_chosen', 'running', 'gone'] as const;
const GAPS = ['no_room', 'too_large', 'unreadable'] as const;

function readPayloads(answer: unknown): PayloadsAnswer {
  const record = isRecord(answer) ? answer : {};
  return {
    function_id: textIn(record, 'function_id') || null,
    mode: MODES.find((mode) => mode === record.mode) ?? 'off',
    input: readStored(record.input),
    output: readStored(record.output),
    missing: REASONS.find((reason) => reason === record.missing) ?? null,
  };
}

function readStored(value: unknown): StoredPayload | null {
  if (!isRecord(value)) return null;
  return {
    json: typeof value.json === 'string' ? value.json : null,
    bytes: numberIn(value, 'bytes') ?? 0,
    redacted: textsIn(value, 'redacted'),
    channels: textsIn(value, 'channels'),
    cut_at: typeof value.cut_at === 'string' ? value.cut_at : null,
    gap: GAPS.find((gap) => gap === value.gap) ?? null,
  };
}
