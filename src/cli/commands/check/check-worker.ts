import { CONNECTION_FLAGS } from '../../engine/connection-flags.ts';
import { defineCommand } from '../../kernel/command.ts';
import { numberIn, recordsIn, textIn } from '../../text/records.ts';
import { judge, MONITOR_FORMATS, monitor } from './monitor.ts';
import { countThreshold } from './thresholds.ts';

export const checkWorker = defineCommand({
  name: 'check worker',
  summary: 'Check that enough workers with a name are connected.',
  operands: { usage: '<name>', min: 1, max: 1, help: 'The name with which the worker connects.' },
  flags: {
    'min-workers': { ...countThreshold('Critical when fewer are connected.'), fallback: '1' },
    'in-flight-warn': countThreshold('Warning when together they run this many calls.'),
    'in-flight-critical': countThreshold('Critical when together they run this many calls.'),
    ...CONNECTION_FLAGS,
  },
  formats: MONITOR_FORMATS,
  examples: [
    { line: 'svc check worker billing --min-workers 2', shows: 'Critical when only one is left.' },
    { line: 'svc check worker billing --in-flight-warn 500 -o json', shows: 'The same for a script.' },
  ],
  monitors: true,
  async run(context) {
    const { flags, operands } = context;
    const [name = ''] = operands;
    return await monitor(context, { kind: 'worker', subject: name }, async (engine) => {
      const answer = await engine.call('engine::workers::list', { search: name });
      const workers = recordsIn(answer, 'workers').filter(
        (worker) => textIn(worker, 'name') === name && textIn(worker, 'status') !== 'disconnected',
      );
      const inFlight = workers.reduce((sum, worker) => sum + (numberIn(worker, 'active_invocations') ?? 0), 0);
      return judge(
        [],
        [
          { name: 'workers', value: workers.length, unit: 'count', atLeast: flags['min-workers'] },
          {
            name: 'in_flight',
            value: inFlight,
            unit: 'count',
            warn: flags['in-flight-warn'],
            critical: flags['in-flight-critical'],
          },
        ],
        'connected',
      );
    });
  },
});
