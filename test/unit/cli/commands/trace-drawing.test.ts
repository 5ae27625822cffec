import { describe, expect, test } from 'vitest';
import { drawBar, drawTrace, headline } from '../../../../src/cli/commands/watch/trace-drawing.ts';
import { createPainter } from '../../../../src/cli/text/colour.ts';
import { layoutTrace } from '../../../../src/core/telemetry/spans/trace-layout.ts';
import { START_NANO } from '../../../support/telemetry/telemetry-records.ts';
import { treeSpan } from '../../../support/telemetry/trace-spans.ts';

const PLAIN = createPainter({ mode: 'never', env: {}, isTerminal: true });
const NOW_NANO = START_NANO + 1_000 * 1e6;

const ROOT = treeSpan('POST /orders', 0, 180, [
  treeSpan('state::set', 5, 11),
  treeSpan('billing::charge', 20, 140, [treeSpan('http POST pay.example', 22, 130)], { service_name: 'billing' }),
  treeSpan('enqueue email', 178, 178.1),
]);

describe('a trace on a terminal', () => {
  test('[console 6.6] is a tree with a bar for each span and a diamond on the critical path', () => {
    const lines = drawTrace(layoutTrace([ROOT], NOW_NANO), { columns: 80, paint: PLAIN, logs: [] });
    expect(lines).toEqual([
      'POST /orders                 █████████████████████████████████████████  180 ms ◆',
      '├─ state::set                 █▌                                          6 ms ◆',
      '├─ billing::charge           ·   ▐██████████████████████████▉           120 ms ◆',
      '│  └─ http POST pay.example  ·    ████████████████████████▋             108 ms ◆',
      '└─ enqueue email             ·                                       ▋  0.1 ms ◆',
    ]);
    expect(lines.every((line) => line.length <= 80)).toBe(true);
  });

  test('[console 6.6] is headed by id, name, status, duration, spans and services', () => {
    const text = headline(layoutTrace([ROOT], NOW_NANO), PLAIN);
    expect(text).toBe('4bf92f3577b34da6  POST /orders  OK  180 ms  5 spans  2 services');
  });

  test('[console 6.6] below a span are its error message and its log entries with their times', () => {
    const failed = treeSpan('charge', 0, 10, [], { status: 'error', status_description: 'card declined' });
    const layout = layoutTrace([treeSpan('root', 0, 20, [failed, treeSpan('after', 10, 20)])], NOW_NANO);
    const log = {
      span_id: 'charge',
      timestamp_unix_nano: START_NANO + 4e6,
      severity_text: 'WARN',
      body: 'hm\u001b[2J',
    } as const;
    const lines = drawTrace(layout, { columns: 60, paint: PLAIN, logs: [log] });
    expect(lines.slice(2, 4)).toEqual(['│     ✘ card declined', '│     +4 ms WARN hm[2J']);
  });

  test('[TRC-9] a span shorter than a column is visible, and no bar exceeds its column', () => {
    for (const offset of [0, 0.3, 0.999, 1]) {
      for (const width of [0, 0.0001, 0.5, 1]) {
        const bar = drawBar(offset, width, 20);
        expect(bar).toHaveLength(20);
        expect(bar.replace(/[ ·]/g, '')).not.toBe('');
      }
    }
  });
});
