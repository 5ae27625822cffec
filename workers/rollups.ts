// Aggregates metrics into minutes, five minutes and hours, and answers queries about them. It keeps state between
// tasks, so it runs as long as the engine; it starts with the first point.

import { systemClock } from '../src/effects/clock.ts';
import { handOver } from '../src/effects/threads/hand-over.ts';
import { yieldToCalls } from '../src/effects/threads/observation-thread.ts';
import { RollupHost } from '../src/telemetry/rollup-host.ts';
import type { RollupTask } from '../src/telemetry/tasks.ts';

yieldToCalls();

const host = new RollupHost(() => systemClock.nowMs());

export default function runRollupTask(task: RollupTask): unknown {
  if (task.kind === 'add') return host.add(task.points);
  const answer = host.ask(task.payload, task.merging);
  return answer instanceof ArrayBuffer ? handOver(answer) : answer;
}
