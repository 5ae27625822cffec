import { conditionText } from '../alert-rows.ts';
import { defineCommand } from '../command.ts';
import { withEngine } from '../connection.ts';
import { CONNECTION_FLAGS } from '../connection-flags.ts';
import { stripUnsafe } from '../display-text.ts';
import { EXIT } from '../exit-codes.ts';
import { CliFailure } from '../failures.ts';
import { isRecord, recordsIn, textIn } from '../records.ts';

export const alertsEvaluate = defineCommand({
  name: 'alerts evaluate',
  summary: 'Evaluate the alert rules now, not within 10 seconds.',
  details: ['Rules that hold take their action, unless they are in their cooldown.'],
  flags: { ...CONNECTION_FLAGS },
  formats: ['table', 'json', 'jsonl'],
  examples: [
    { line: 'svc alerts evaluate', shows: 'The rules that hold.' },
    { line: 'svc alerts evaluate --json', shows: 'The answer of the engine.' },
  ],
  exitCodes: [EXIT.failed, EXIT.timedOut, EXIT.unreachable, EXIT.refused],
  async run(context) {
    const { output } = context;
    const answer = await withEngine(context, (engine) => engine.call('engine::alerts::evaluate', {}));
    if (isRecord(answer) && answer.evaluated === false) {
      const message = textIn(answer, 'message') || 'The engine evaluates no alerts';
      throw new CliFailure({ code: 'NOT_EVALUATED', message, exitCode: EXIT.failed });
    }
    const alerts = recordsIn(answer, 'triggered_alerts');
    const lines = alerts.map(
      (alert) =>
        `${output.paintOut.red('firing')}  ${stripUnsafe(textIn(alert, 'name'))}  ` +
        stripUnsafe(`${conditionText(alert)}, now ${textIn(alert, 'value')}`),
    );
    output.printDocument(answer, lines.length === 0 ? 'No rule holds.' : lines.join('\n'));
    return EXIT.done;
  },
});
