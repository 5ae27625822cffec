// `svc functions …`: the functions that can be called, and one of them in detail.

import { isSvcError } from '../../../sdk/calls/errors.ts';
import { type EngineConnection, withEngine } from '../../engine/connection.ts';
import { LIST_EXIT_CODES, listFlags, showList } from '../../engine/listing.ts';
import { defineCommand } from '../../kernel/command.ts';
import { EXIT } from '../../kernel/failures.ts';
import { CONNECTION_FLAGS } from '../../kernel/flags.ts';
import { formatPairs, stripUnsafe, stripUnsafeLines } from '../../text/display-text.ts';
import type { Output } from '../../text/output.ts';
import { isRecord, type JsonRecord, recordsIn, textIn, textsIn } from '../../text/records.ts';
import { quoteForShell } from '../../text/shell.ts';
import type { Column } from '../../text/table.ts';
import {
  examplePairs,
  parameterLines,
  parametersOf,
  requestSchemaOf,
  responseSchemaOf,
  unknownFunction,
} from './function-details.ts';

export const functionsList = defineCommand({
  name: 'function list',
  summary: 'List the functions that can be called.',
  flags: {
    ns: { kind: 'text', placeholder: '<namespace>', help: 'Only ids that begin with <namespace>::' },
    search: { kind: 'text', placeholder: '<text>', help: 'Only ids and descriptions that contain the text.' },
    internal: { kind: 'switch', help: 'Include the functions of the engine itself.' },
    ...listFlags('functions'),
    ...CONNECTION_FLAGS,
  },
  formats: ['table', 'wide', 'json', 'jsonl', 'csv'],
  examples: [
    { line: 'svc function list --ns orders', shows: 'The functions whose id begins with orders::' },
    { line: 'svc function list --internal --json', shows: 'All of them, for a script.' },
  ],
  exitCodes: LIST_EXIT_CODES,
  async run(context) {
    const { flags } = context;
    return await showList(context, { what: 'functions' }, async (engine) => {
      const answer = await engine.call('engine::functions::list', {
        include_internal: flags.internal,
        ...(flags.ns === undefined ? {} : { prefix: `${flags.ns.replace(/::$/, '')}::` }),
        ...(flags.search === undefined ? {} : { search: flags.search }),
      });
      const all = recordsIn(answer, 'functions');
      const rows = flags.internal ? all : all.filter((record) => !isOfModule(record));
      return { columns: COLUMNS, rows, none: emptyNote(flags, all.length > 0) };
    });
  },
});

const COLUMNS: readonly Column<JsonRecord>[] = [
  { name: 'function_id', cut: 'middle', text: (record) => textIn(record, 'function_id') },
  { name: 'workers', cut: 'end', text: (record) => workerNames(record).join(', ') },
  { name: 'triggers', text: (record) => triggerTypes(record).join(', ') },
  { name: 'status', text: (record) => textIn(record, 'status') },
  { name: 'namespace', wideOnly: true, text: (record) => textIn(record, 'namespace') },
  { name: 'description', cut: 'end', text: (record) => textIn(record, 'description') },
];

function workerNames(record: JsonRecord): string[] {
  const names = recordsIn(record, 'workers').map((worker) => textIn(worker, 'name'));
  return names.length > 0 ? names : [textIn(record, 'worker_name')];
}

function triggerTypes(record: JsonRecord): string[] {
  return isRecord(record.triggers) ? textsIn(record.triggers, 'types') : [];
}

/**
 * The engine's answer leaves out only `engine::*`, as other clients expect. A module is a worker whose id equals its
 * name; the engine generates the ids of connections.
 */
function isOfModule(record: JsonRecord): boolean {
  const workers = recordsIn(record, 'workers');
  return workers.length > 0 && workers.every((worker) => textIn(worker, 'id') === textIn(worker, 'name'));
}

function emptyNote({ ns, search }: { ns: string | undefined; search: string | undefined }, areHidden: boolean): string {
  if (ns === undefined && search === undefined) {
    return 'No worker has registered a function yet. List the functions of the engine itself with --internal.';
  }
  return areHidden
    ? 'No function of a worker matches. Include the functions of the engine itself with --internal.'
    : 'No function matches. Omit --ns and --search to list all functions.';
}

export const functionsInfo = defineCommand({
  name: 'function info',
  summary: 'Show one function: workers, triggers, callers, schemas.',
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
    { line: 'svc function info orders::create', shows: 'Everything known about the function, and how to call it.' },
    { line: 'svc function info orders::create --json', shows: 'The record of the engine, with the callers.' },
  ],
  exitCodes: [EXIT.notFound, EXIT.timedOut, EXIT.unreachable, EXIT.refused],
  async run(context) {
    const [functionId = ''] = context.operands;
    const { detail, callers } = await withEngine(context, async (engine) => ({
      detail: await readDetail(engine, functionId),
      callers: await readCallers(engine, functionId, context.terminal.now()),
    }));
    context.output.printDocument(
      { ...detail, called_by: callers },
      formatDetail(functionId, detail, callers, context.output),
    );
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

/** Of the last hour. An engine that counts no calls has none. */
async function readCallers(engine: EngineConnection, functionId: string, nowMs: number): Promise<JsonRecord[]> {
  const query = { start_time: nowMs - 3_600_000, function_id: functionId, edges: true };
  const answer = await engine.call('engine::metrics::calls', query).catch((error: unknown) => {
    if (isSvcError(error)) return {};
    throw error;
  });
  return recordsIn(answer, 'edges')
    .filter(({ to, calls }) => isRecord(to) && to.kind === 'function' && to.name === functionId && Number(calls) > 0)
    .map(({ from, calls, errors }) => ({ function_id: from, calls, errors }));
}

function callerLines(callers: readonly JsonRecord[]): string[] {
  if (callers.length === 0) return [];
  const rows = callers.map((caller): [string, string] => {
    const errors = textIn(caller, 'errors');
    const failed = errors === '0' ? '' : `, ${errors} failed`;
    return [stripUnsafe(textIn(caller, 'function_id')), `${textIn(caller, 'calls')} calls${failed}`];
  });
  return ['', 'Called by (last hour)', ...formatPairs(rows)];
}

function formatDetail(functionId: string, detail: JsonRecord, callers: readonly JsonRecord[], output: Output): string {
  const request = requestSchemaOf(detail);
  const response = responseSchemaOf(detail);
  const rows: [string, string][] = [
    ['description', textIn(detail, 'description')],
    ['workers', workerNames(detail).join(', ')],
    ['status', textIn(detail, 'status')],
  ];
  const pairs = examplePairs(parametersOf(request)).map((pair) => ` ${quoteForShell(pair)}`);
  const text = [
    functionId,
    ...formatPairs(rows.filter(([, text]) => text !== '').map(([label, text]) => [label, stripUnsafe(text)])),
    '',
    ...triggerLines(recordsIn(detail, 'registered_triggers')),
    ...callerLines(callers),
    '',
    ...parameterLines(request),
    ...(response === undefined ? [] : ['', 'Answer schema', indentJson(response)]),
    '',
    'Call it',
    `  ${output.typed('svc trigger')} ${quoteForShell(functionId)}${pairs.join('')}`,
    `  await svc.trigger(${JSON.stringify(functionId)}, {})`,
  ].join('\n');
  return stripUnsafeLines(text);
}

function triggerLines(triggers: readonly JsonRecord[]): string[] {
  if (triggers.length === 0) return ['Triggers: none.'];
  const triggerRows = triggers.map((trigger): [string, string] => [
    stripUnsafe(textIn(trigger, 'trigger_type')),
    stripUnsafe(JSON.stringify(trigger.config ?? {})),
  ]);
  return ['Triggers', ...formatPairs(triggerRows)];
}

function indentJson(value: unknown): string {
  const lines = JSON.stringify(value, undefined, 2).split('\n');
  return lines.map((line) => `  ${line}`).join('\n');
}
