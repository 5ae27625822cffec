import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { showCopyProgress } from '../../../../src/cli/commands/engine/backup.ts';
import { createOutput } from '../../../../src/cli/text/output.ts';
import { ProgressLine } from '../../../../src/cli/text/progress-line.ts';
import { TemporaryFolder } from '../../../support/engine/temporary-folder.ts';
import { waitFor } from '../../../support/wait-for.ts';
import { createFakeTerminal } from './fake-terminal.ts';

/** An output and a terminal with a clock that the test moves. */
function createTarget(columns?: number, quiet = false) {
  const clock = { ms: 0 };
  const terminal = {
    ...createFakeTerminal(columns === undefined ? {} : { columns }),
    elapsedMs: () => clock.ms,
  };
  const plain = {
    format: 'table',
    jsonAsked: false,
    verbose: false,
    showsWire: false,
    plain: false,
    colour: 'never',
    timeStyle: 'relative',
  } as const;
  return { clock, terminal, output: createOutput(terminal, { ...plain, quiet }, []) };
}

describe('a progress line', () => {
  test('[CLI-5] in a pipe is printed every few seconds, with amount, rate and remaining time', () => {
    const to = createTarget();
    const progress = new ProgressLine({ total: 1_000, word: 'redriven' }, to);
    for (let second = 1; second <= 10; second++) {
      to.clock.ms = second * 1_000;
      progress.update(second * 50, ', 3 failed');
    }
    progress.end();
    expect(to.terminal.stderr()).toBe(
      '250/1000 redriven, 3 failed  50/s  15 s left\n500/1000 redriven, 3 failed  50/s  10 s left\n',
    );
  });

  test('[CLI-5] on a terminal is overwritten, and removed at the end', () => {
    const to = createTarget(80);
    const progress = new ProgressLine({ total: 10, word: 'written' }, to);
    to.clock.ms = 500;
    progress.update(5);
    progress.end();
    expect(to.terminal.stderr()).toBe('\r\u001b[2K5/10 written  10/s  500 ms left\r\u001b[2K');
  });

  test('is not printed with --quiet', () => {
    const to = createTarget(80, true);
    const progress = new ProgressLine({ total: 10, word: 'written' }, to);
    to.clock.ms = 500;
    progress.update(5);
    progress.end();
    expect(to.terminal.stderr()).toBe('');
  });

  test('shows the progress of a copy by the size of the files', async () => {
    using folder = new TemporaryFolder();
    const [from, to] = [join(folder.path, 'data'), join(folder.path, 'copy.partial-1/0-data')];
    mkdirSync(from);
    mkdirSync(to, { recursive: true });
    writeFileSync(join(from, 'data.mdb'), Buffer.alloc(4 * 1024 * 1024));
    const target = createTarget();
    const order = { from: [from], to: [join(folder.path, 'copy.partial-')], word: 'copied' };
    await showCopyProgress(order, target, async () => {
      writeFileSync(join(to, 'data.mdb'), Buffer.alloc(1024 * 1024));
      target.clock.ms = 10_000;
      await waitFor('a line is printed', () => target.terminal.stderr() !== '', 30_000);
    });
    expect(target.terminal.stderr()).toBe('1/4 MiB copied  0.1/s  30 s left\n');
  });
});
