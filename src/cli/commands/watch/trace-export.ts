import { toChromeTrace, toOtlpJson } from '../../../core/telemetry/spans/trace-export.ts';
import { withEngine } from '../../engine/connection.ts';
import { CONNECTION_FLAGS } from '../../engine/connection-flags.ts';
import { defineCommand } from '../../kernel/command.ts';
import { EXIT } from '../../kernel/exit-codes.ts';
import { explainNoMemory, findTraceId, flatSpans, readTrace } from './spans.ts';

export const traceExport = defineCommand({
  name: 'trace export',
  summary: 'Print one trace as a file for other tools.',
  operands: {
    usage: '<id|last>',
    min: 1,
    max: 1,
    help: 'The id of the trace, its first digits, or last.',
    kinds: ['trace'],
  },
  details: [
    'otlp is the JSON format of OpenTelemetry, for collectors and trace viewers. chrome is the trace event ' +
      'format, for   Perfetto (ui.perfetto.dev) and chrome://tracing.',
  ],
  flags: {
    format: {
      kind: 'choice',
      placeholder: '<format>',
      choices: ['otlp', 'chrome'],
      fallback: 'otlp',
      help: 'Format of the file.',
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
