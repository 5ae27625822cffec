import { withEngine } from '../../engine/connection.ts';
import { CONNECTION_FLAGS } from '../../engine/connection-flags.ts';
import { defineCommand } from '../../kernel/command.ts';
import { EXIT } from '../../kernel/exit-codes.ts';
import { CliFailure } from '../../kernel/failures.ts';
import { stripUnsafe } from '../../text/display-text.ts';
import { isRecord, recordsIn, textIn } from '../../text/records.ts';
import { conditionText } from './alert-rows.ts';

export const alertsEvaluate = defineCommand({
  name: 'alerts evaluate',
  summary: 'Evaluate the alert rules immediately.',
  details: [
    'The engine evaluates the rules every 10 seconds; this command does not wait for it. A rule that fires takes its ' +
      'action, unless its cooldown is still running.',
  ],
  flags: { ...CONNECTION_FLAGS },
  formats: ['table', 'json', 'jsonl'],
  examples: [
    { line: 'svc alerts evaluate', shows: 'The rules whose condition is true.' },
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
    output.printDocument(answer, lines.length === 0 ? 'No rule is firing.' : lines.join('\n'));
    return EXIT.done;
  },
});
