import { toChromeTrace, toOtlpJson } from '../../core/telemetry/trace-export.ts';
import { defineCommand } from '../command.ts';
import { withEngine } from '../connection.ts';
import { CONNECTION_FLAGS } from '../connection-flags.ts';
import { EXIT } from '../exit-codes.ts';
import { explainNoMemory, findTraceId, flatSpans, readTrace } from '../spans.ts';

export const traceExport = defineCommand({
  name: 'trace export',
  summary: 'Print one trace as a file for other tools.',
  operands: {
    usage: '<id|last>',
    min: 1,
    max: 1,
    help: 'The id of the trace, the beginning of it, or last.',
    kinds: ['trace'],
  },
  details: [
    'otlp is the JSON of OpenTelemetry, which collectors and trace viewers read. chrome is the trace event format, ' +
      'which Perfetto (ui.perfetto.dev) and chrome://tracing open.',
  ],
  flags: {
    format: {
      kind: 'choice',
      placeholder: '<format>',
      choices: ['otlp', 'chrome'],
      fallback: 'otlp',
      help: 'What the file is for.',
    },
    ...CONNECTION_FLAGS,
  },
  formats: ['json', 'jsonl'],
  examples: [
    { line: 'svc trace export last --format chrome > trace.json', shows: 'A file for Perfetto.' },
    { line: 'svc trace export 4bf92f35', shows: 'The trace as OTLP JSON.' },
  ],
  exitCodes: [EXIT.notFound, EXIT.timedOut, EXIT.unreachable, EXIT.refused],
  async run(context) {
    const { flags, output, operands, terminal } = context;
    const [wanted = ''] = operands;
    const spans = await withEngine(context, async (engine) => {
      try {
        return flatSpans(await readTrace(engine, await findTraceId(engine, wanted)));
      } catch (error) {
        throw explainNoMemory(error);
      }
    });
    output.printJson(flags.format === 'chrome' ? toChromeTrace(spans, terminal.now() * 1e6) : toOtlpJson(spans));
    return EXIT.done;
  },
});
