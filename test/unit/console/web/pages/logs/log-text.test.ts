// Text of logs and errors: colours, links, stacks, and what makes two messages similar.

import { describe, expect, test } from 'vitest';
import type { LogRow } from '../../../../../../src/console/api/telemetry.ts';
import { similarKey } from '../../../../../../src/console/web/kit/json/logic/similar-text.ts';
import { hiddenCount, logListRows, messageKey } from '../../../../../../src/console/web/pages/logs/logic/log-rows.ts';
import { ansiRuns, linkPieces, stripAnsi } from '../../../../../../src/console/web/pages/logs/logic/text-pieces.ts';
import { causeChain, foldStack, hasStack } from '../../../../../../src/console/web/pages/traces/logic/stack-fold.ts';
import { forEachSeed } from '../../../../../support/random/seeded-random.ts';

describe('terminal colours', () => {
  test('[LOG-2] are shown as colours, or removed', () => {
    const text = 'plain \u001b[1;31mred\u001b[0m end';
    expect(ansiRuns(text)).toEqual([
      { text: 'plain ', colour: null, isBold: false },
      { text: 'red', colour: 'red', isBold: true },
      { text: ' end', colour: null, isBold: false },
    ]);
    expect(stripAnsi(text)).toBe('plain red end');
  });

  test('[LOG-2] Other terminal commands are removed: titles, cursor, links', () => {
    expect(stripAnsi('a\u001b]0;title\u0007b\u001b[2Jc\u001b]8;;http://x\u001b\\d\u009b31me')).toBe('abcde');
  });

  test('[LOG-2] Numbers of 256 and true colours are not read as other commands', () => {
    expect(ansiRuns('\u001b[38;5;31mx\u001b[38;2;1;31;1my')).toEqual([
      { text: 'x', colour: null, isBold: false },
      { text: 'y', colour: null, isBold: false },
    ]);
  });

  test('[LOG-2] The shown text is always the text without commands', () => {
    const parts = ['\u001b[', '\u001b]', '31', ';', 'm', '\u0007', 'x', '\u001b', '\u009b', ' '];
    forEachSeed(200, (random) => {
      const text = Array.from({ length: random.below(12) }, () => random.pick(parts)).join('');
      expect(
        ansiRuns(text)
          .map((run) => run.text)
          .join(''),
      ).toBe(stripAnsi(text));
    });
  });
});

describe('links', () => {
  test('[LOG-2] Addresses become links without the end of the sentence', () => {
    expect(linkPieces('see https://a.example/x?y=1, then (http://b.example).')).toEqual([
      { text: 'see ', href: null },
      { text: 'https://a.example/x?y=1', href: 'https://a.example/x?y=1' },
      { text: ', then (', href: null },
      { text: 'http://b.example', href: 'http://b.example' },
      { text: ').', href: null },
    ]);
  });

  test('[LOG-2] Only http and https become links', () => {
    for (const text of ['javascript://alert(1)', 'file:///etc/passwd', 'data:text/html,x', 'http://']) {
      expect(linkPieces(text).every((piece) => piece.href === null)).toBe(true);
    }
  });
});

describe('stacks', () => {
  const STACK = [
    'Error: card declined',
    '    at charge (/app/src/billing.ts:12:9)',
    '    at Layer.handle (/app/node_modules/x/layer.js:1:1)',
    '    at process.processTicksAndRejections (node:internal/process/task_queues:105:5)',
    '    at run (/app/src/main.ts:3:1)',
    'Caused by: Error: 402',
  ].join('\n');

  test('[TRC-15] Library frames fold; own frames and messages stay', () => {
    expect(foldStack(STACK).map((part) => (part.kind === 'library' ? part.lines.length : part.kind))).toEqual([
      'text',
      'own',
      2,
      'own',
      'text',
    ]);
  });

  test('[TRC-15] No line is lost', () => {
    const lines = foldStack(STACK).flatMap((part) => (part.kind === 'library' ? part.lines : [part.line]));
    expect(lines.join('\n')).toBe(STACK);
  });

  test('[TRC-15] The chain of causes is found', () => {
    expect(causeChain(STACK)).toEqual(['Error: 402']);
  });

  test('[LOG-2] A message of several lines is not taken for a stack', () => {
    expect(hasStack(STACK)).toBe(true);
    expect(hasStack('one\ntwo at three')).toBe(false);
  });
});

describe('similar messages', () => {
  test.each([
    ['took 12 ms', 'took 130 ms'],
    ['order 248480010225057793 failed', 'order 7 failed'],
    ['job 9f1c0f2e-5d0a-4e61-9a8e-0a6b2f6f8c11 done', 'job 00000000-5d0a-4e61-9a8e-0a6b2f6f8c12 done'],
    ['trace 4bf92f3577b34da6 lost', 'trace a3ce929d0e0e4736 lost'],
    ['from 10.0.0.1:5432', 'from 192.168.1.7:80'],
    ['at 2026-01-02T03:04:05.678Z', 'at 2027-11-12 13:14:15Z'],
  ])('[LOG-5] "%s" is like "%s"', (one, other) => {
    expect(similarKey(one)).toBe(similarKey(other));
  });

  test('[LOG-5] Different words make different messages', () => {
    expect(similarKey('card declined')).not.toBe(similarKey('card accepted'));
    expect(similarKey('a decade')).toContain('decade');
  });
});

function log(id: string, body: string, more: Partial<LogRow> = {}): LogRow {
  return {
    id,
    body,
    timestamp_unix_nano: 0,
    observed_timestamp_unix_nano: 0,
    severity_number: 9,
    severity_text: 'INFO',
    attributes: {},
    trace_id: null,
    span_id: null,
    resource: {},
    service_name: 'api',
    ...more,
  };
}

describe('rows of the list', () => {
  const entries = [log('4', 'took 9 ms'), log('3', 'card declined'), { id: 'g', dropped: 412 }, log('1', 'took 10 ms')];
  const plain = { isGrouped: false, open: new Set<string>(), hidden: new Set<string>() };

  test('[LOG-6] A gap keeps its place between its neighbours', () => {
    expect(logListRows(entries, plain).map((row) => row.kind)).toEqual(['log', 'log', 'gap', 'log']);
  });

  test('[LOG-5] Similar messages are one row with a count, which opens', () => {
    const grouped = logListRows(entries, { ...plain, isGrouped: true });
    expect(grouped.map((row) => (row.kind === 'group' ? row.count : row.kind))).toEqual([2, 'log', 'gap']);
    const open = new Set([messageKey(log('4', 'took 9 ms'))]);
    expect(logListRows(entries, { ...plain, isGrouped: true, open })).toHaveLength(5);
  });

  test('[LOG-5] Messages like one can be hidden, and are counted', () => {
    const hidden = new Set([messageKey(log('x', 'took 77 ms'))]);
    expect(logListRows(entries, { ...plain, hidden }).map((row) => row.kind)).toEqual(['log', 'gap']);
    expect(hiddenCount(entries, hidden)).toBe(2);
  });

  test('[LIV-2] A record that stays in the list is not processed again when others arrive', () => {
    let looks = 0;
    const held = Object.defineProperty(log('5', ''), 'body', {
      get: () => {
        looks += 1;
        return 'took 3 ms';
      },
    });
    const hidden = new Set([messageKey(log('x', 'card declined'))]);
    for (let frame = 0; frame < 3; frame += 1) {
      const now = [log(`new ${frame}`, 'took 4 ms'), held, ...entries];
      expect(logListRows(now, { ...plain, isGrouped: true, hidden }).map((row) => row.kind)).toEqual(['group', 'gap']);
      expect(hiddenCount(now, hidden)).toBe(1);
    }
    expect(looks).toBe(1);
  });

  test('[LOG-5] The same words from another service or severity are another message', () => {
    expect(messageKey(log('1', 'x', { service_name: 'b' }))).not.toBe(messageKey(log('1', 'x')));
    expect(messageKey(log('1', 'x', { severity_text: 'WARN' }))).not.toBe(messageKey(log('1', 'x')));
  });
});
