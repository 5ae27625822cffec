import { isSvcError } from '../../../sdk/calls/errors.ts';
import { type EngineConnection, withEngine } from '../../engine/connection.ts';
import { CONNECTION_FLAGS } from '../../engine/connection-flags.ts';
import { defineCommand } from '../../kernel/command.ts';
import { EXIT } from '../../kernel/exit-codes.ts';
import { stripUnsafe, stripUnsafeLines } from '../../text/display-text.ts';
import type { Output } from '../../text/output.ts';
import { isRecord, type JsonRecord, recordsIn, textIn } from '../../text/records.ts';
import { quoteForShell } from '../../text/shell-quote.ts';
import { formatPairs } from '../../text/two-columns.ts';
import { parameterLines, requestSchemaOf, responseSchemaOf, unknownFunction } from './function-facts.ts';
import { examplePairs, parametersOf } from './schema-parameters.ts';

export const functionsInfo = defineCommand({
  name: 'functions info',
  summary: 'Show one function: workers, triggers, schemas.',
  operands: {
    usage: '<id>',
    min: 1,
    max: 1,
    help: 'The id of the function, such as orders::create.',
    kinds: ['function'],
  },
  flags: { ...CONNECTION_FLAGS },
  formats: ['table', 'json', 'jsonl'],
  examples: [
    { line: 'svc functions info orders::create', shows: 'Everything known about the function, and how to call it.' },
    { line: 'svc functions info orders::create --json', shows: 'The unchanged record of the engine.' },
  ],
  exitCodes: [EXIT.notFound, EXIT.timedOut, EXIT.unreachable, EXIT.refused],
  async run(context) {
    const [functionId = ''] = context.operands;
    const detail = await withEngine(context, (engine) => readDetail(engine, functionId));
    context.output.printDocument(detail, formatDetail(functionId, detail, context.output));
    return EXIT.done;
  },
});

async function readDetail(engine: EngineConnection, functionId: string): Promise<JsonRecord> {
  try {
    const detail = await engine.call('engine::functions::info', { function_id: functionId });
    return isRecord(detail) ? detail : {};
  } catch (error) {
    throw (isSvcError(error, 'NOT_FOUND') ? await unknownFunction(engine, functionId) : undefined) ?? error;
  }
}

function formatDetail(functionId: string, detail: JsonRecord, output: Output): string {
  const request = requestSchemaOf(detail);
  const response = responseSchemaOf(detail);
  const facts: [string, string][] = [
    ['description', textIn(detail, 'description')],
    ['workers', workerNames(detail)],
    ['status', textIn(detail, 'status')],
  ];
  const pairs = examplePairs(parametersOf(request)).map((pair) => ` ${quoteForShell(pair)}`);
  const text = [
    functionId,
    ...formatPairs(facts.filter(([, text]) => text !== '').map(([label, text]) => [label, stripUnsafe(text)])),
    '',
    ...triggerLines(recordsIn(detail, 'registered_triggers')),
    '',
    ...parameterLines(request),
    ...(response === undefined ? [] : ['', 'Answer schema', indentJson(response)]),
    '',
    'Call it',
    `  ${output.typed('svc trigger')} ${quoteForShell(functionId)}${pairs.join('')}`,
    `  await svc.trigger({ function_id: ${JSON.stringify(functionId)}, payload: {} })`,
  ].join('\n');
  return stripUnsafeLines(text);
}

function workerNames(detail: JsonRecord): string {
  const names = recordsIn(detail, 'workers').map((worker) => textIn(worker, 'name'));
  return names.length > 0 ? names.join(', ') : textIn(detail, 'worker_name');
}

function triggerLines(triggers: readonly JsonRecord[]): string[] {
  if (triggers.length === 0) return ['Triggers: none.'];
  const rows = triggers.map((trigger): [string, string] => [
    stripUnsafe(textIn(trigger, 'trigger_type')),
    stripUnsafe(JSON.stringify(trigger.config ?? {})),
  ]);
  return ['Triggers', ...formatPairs(rows)];
}

function indentJson(value: unknown): string {
  const lines = JSON.stringify(value, undefined, 2).split('\n');
  return lines.map((line) => `  ${line}`).join('\n');
}
