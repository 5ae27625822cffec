// The telemetry thread: keeps spans, logs and metrics, answers queries about them, and sends them to a collector. It
// runs as long as the engine. A hop costs 0.1 ms and carries a batch of 50 ms of telemetry, or a whole answer.

import { writeSync } from 'node:fs';
import { systemClock } from '../src/effects/clock.ts';
import { systemRandom } from '../src/effects/random.ts';
import { handOver } from '../src/effects/threads/hand-over.ts';
import { wholeLines, yieldToCalls } from '../src/effects/threads/observation-thread.ts';
import { type RecordConsole, recordConsole } from '../src/telemetry/console-line.ts';
import { TelemetryHost } from '../src/telemetry/host.ts';
import type { TelemetryTask } from '../src/telemetry/tasks.ts';

yieldToCalls();

let host: TelemetryHost | undefined;
let recordsShown: RecordConsole | undefined;
const STDERR = 2;

export default async function runTelemetryTask(task: TelemetryTask): Promise<unknown> {
  if (task.kind === 'open') {
    const { console: style, settings } = task.options;
    const linesPerSecond = settings.logs.consoleLinesPerSecond;
    const write = wholeLines((bytes) => writeSync(STDERR, bytes));
    const shown = recordConsole({ style, linesPerSecond, clock: systemClock, write });
    const world = { clock: systemClock, token: systemRandom.token, show: shown.show };
    const opened = new TelemetryHost(task.options, world);
    await opened.openDisk();
    host = opened;
    recordsShown = shown;
    return null;
  }
  if (host === undefined) throw new Error('The telemetry thread was not opened');
  switch (task.kind) {
    case 'batch':
      return host.take(task.batch, task.wanted);
    case 'ask': {
      const answer = host.ask(task.functionId, task.payload, task.merging);
      return answer instanceof ArrayBuffer ? handOver(answer) : answer;
    }
    case 'measure':
      return host.measure(task.windows);
    case 'adopt':
      return host.adopt(task.payloads);
    case 'tick':
      return host.tick();
    case 'stop':
      recordsShown?.end();
      return await host.stop(task.withinMs);
  }
}
