// `svc alerts …`: the alert rules as the engine lists them, and their evaluation on request.

import { withEngine } from '../../engine/connection.ts';
import { LIST_EXIT_CODES, listFlags, showList } from '../../engine/listing.ts';
import { defineCommand } from '../../kernel/command.ts';
import { CliFailure, EXIT } from '../../kernel/failures.ts';
import { CONNECTION_FLAGS } from '../../kernel/flags.ts';
import { stripUnsafe } from '../../text/display-text.ts';
import { isRecord, type JsonRecord, numberIn, recordsIn, textIn } from '../../text/records.ts';
import type { Column } from '../../text/table.ts';
import { formatTime, type TimeStyle } from '../../text/times.ts';

export const alertsList = defineCommand({
  name: 'alert list',
  summary: 'List the alert rules, and which of them are firing.',
  details: [
    'Rules are defined in the configuration of svc-observability, under alerts. For monitoring use svc check alerts.',
  ],
  flags: {
    firing: { kind: 'switch', help: 'Only rules that are firing.' },
    ...listFlags('alerts'),
    ...CONNECTION_FLAGS,
  },
  formats: ['table', 'wide', 'json', 'jsonl', 'csv'],
  examples: [
    { line: 'svc alert list', shows: 'Every rule with its current value.' },
    { line: 'svc alert list --firing --json', shows: 'The firing rules, for a script.' },
  ],
  exitCodes: LIST_EXIT_CODES,
  async run(context) {
    const { flags, output, terminal } = context;
    return await showList(context, { what: 'alerts' }, async (engine) => {
      const answer = await engine.call('engine::alerts::list', {});
      const rows = recordsIn(answer, 'alerts').filter((alert) => !flags.firing || alert.firing === true);
      const none = flags.firing ? 'No rule is firing.' : 'There is no alert rule.';
      return { columns: columns(output.timeStyle, terminal.now()), rows, none };
    });
  },
});

function columns(timeStyle: TimeStyle, nowMs: number): readonly Column<JsonRecord>[] {
  const moment = (name: string): Pick<Column<JsonRecord>, 'text' | 'raw'> => ({
    text: (alert) => show(numberIn(alert, name), (ms) => formatTime(ms, timeStyle, nowMs)),
    raw: (alert) => show(numberIn(alert, name), (ms) => new Date(ms).toISOString()),
  });
  return [
    { name: 'name', cut: 'end', text: (alert) => textIn(alert, 'name') },
    { name: 'state', text: alertState },
    { name: 'condition', cut: 'end', text: conditionText },
    { name: 'value', align: 'right', text: (alert) => textIn(alert, 'current_value') },
    { name: 'last_fired', ...moment('last_triggered') },
    { name: 'action', text: actionText },
    { name: 'cooldown_seconds', wideOnly: true, align: 'right', text: (alert) => textIn(alert, 'cooldown_seconds') },
    { name: 'last_evaluated', wideOnly: true, ...moment('last_evaluated') },
  ];
}

/** The type of the action, which may be a text or an object. */
function actionText(alert: JsonRecord): string {
  return isRecord(alert.action) ? textIn(alert.action, 'type') : textIn(alert, 'action');
}

function show(unixMs: number | undefined, format: (unixMs: number) => string): string {
  return unixMs === undefined ? '' : format(unixMs);
}

export const alertsEvaluate = defineCommand({
  name: 'alert evaluate',
  summary: 'Evaluate the alert rules immediately.',
  details: [
    'The engine evaluates the rules every 10 seconds; this command does not wait for it. A rule that fires takes its ' +
      'action, unless its cooldown is still running.',
  ],
  flags: { ...CONNECTION_FLAGS },
  formats: ['table', 'json', 'jsonl'],
  examples: [
    { line: 'svc alert evaluate', shows: 'The rules whose condition is true.' },
    { line: 'svc alert evaluate --json', shows: 'The answer of the engine.' },
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

/** `svc.invocations.error > 5 over 60s` */
function conditionText(alert: JsonRecord): string {
  const window = numberIn(alert, 'window_seconds');
  const condition = `${textIn(alert, 'metric')} ${textIn(alert, 'operator')} ${textIn(alert, 'threshold')}`.trim();
  return window === undefined ? condition : `${condition} over ${window}s`;
}

function alertState(alert: JsonRecord): 'firing' | 'quiet' | 'disabled' {
  if (alert.enabled === false) return 'disabled';
  return alert.firing === true ? 'firing' : 'quiet';
}
