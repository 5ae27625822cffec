// Eight tasks of a user, each from a cold start with the demo running: once in the browser, once on the command line.
// A step is one click, one text that is typed, or one command; the numbers are what a user has to do at least.

import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { registerWorker, type SvcWorker } from '../../../src/sdk/index.ts';
import { waitFor } from '../../support/wait-for.ts';
import { hasChromium, launchChromium } from '../support/chromium.ts';
import { openConsole } from '../support/console-page.ts';
import { DemoProject } from '../support/demo-project.ts';

const START_MS_MAX = 120_000;
const TASK = { timeout: 60_000 };

interface Letter {
  readonly id: string;
  readonly payload: { readonly to: string };
}

describe.skipIf(!hasChromium)('Tasks', () => {
  let demo: DemoProject;
  let browser: Browser;
  let extra: SvcWorker;

  beforeAll(async () => {
    [demo, browser] = await Promise.all([DemoProject.start(), launchChromium()]);
    extra = registerWorker(demo.engineUrl, { workerName: 'stock', handle_signals: false });
    extra.registerFunction('stock::count', () => 7);
    await extra.state.set('stock', 'apples', 5);
    await extra.ready();
  }, START_MS_MAX);
  afterAll(async () => {
    await extra?.shutdown();
    await browser?.close();
    await demo?.[Symbol.asyncDispose]();
  });

  const inBrowser = async (act: (user: User) => Promise<void>): Promise<number> => {
    await using opened = await openConsole(browser, demo.url);
    const user = new User(opened.page);
    await act(user);
    return user.steps;
  };
  const json = async (...args: string[]) => {
    const done = await demo.svc(...args, '--json');
    expect(done, done.stderr).toMatchObject({ code: 0 });
    return JSON.parse(done.stdout);
  };
  const goToLetter = async (user: User) => {
    await user.click('link', /^Queues/);
    await user.clickRow('mail');
    await user.click('tab', /^Dead/);
    await user.clickRow('There is no such customer');
  };
  const isDead = async (id: string): Promise<boolean> =>
    (await json('queue', 'dlq', 'list', 'mail', '-n', '1000')).some((letter: Letter) => letter.id === id);
  const newestLetter = async (): Promise<Letter> => {
    const [letter] = await json('queue', 'dlq', 'list', 'mail');
    return letter;
  };

  test('1 [QUE-3] [TRC-17] Find the failed run of a dead letter', TASK, async () => {
    const steps = await inBrowser(async (user) => {
      await goToLetter(user);
      await user.click('link', 'Open trace');
      await user.sees('row', /mail::send/);
    });
    expect(steps).toBe(5);
    const { id } = await newestLetter();
    const shown = await json('queue', 'dlq', 'show', id);
    const [{ trace_id: traceId }] = shown.attempts;
    expect((await demo.svc('trace', 'show', traceId)).stdout).toContain('call mail::send');
  });

  test('2 [FUN-10] See its input', TASK, async () => {
    const steps = await inBrowser(async (user) => {
      await goToLetter(user);
      await user.click('link', 'Open trace');
      await user.click('row', /mail::send shop/);
      await user.click('tab', 'Payloads');
      await user.sees('region', 'Input');
      await user.page.getByRole('region', { name: 'Input' }).getByText('"unknown"').waitFor();
    });
    expect(steps).toBe(7);
    const [run] = await json('runs', 'mail::send', '--status', 'error', '-n', '1');
    const { input } = await json('run', 'show', run.trace_id, 'mail::send');
    expect(input.value.to).toMatch(/unknown|bob/);
  });

  test('3 [QUE-3] Repeat it corrected', TASK, async () => {
    const steps = await inBrowser(async (user) => {
      await goToLetter(user);
      await user.click('button', /^Edit/);
      await user.type('.cm-content', '{"to": "ann"}');
      await user.click('button', 'Redrive with this payload');
      const id = new URL(user.page.url()).searchParams.get('id') ?? '';
      await waitFor('it is no dead letter any more', async () => !(await isDead(id)), 30_000);
    });
    expect(steps).toBe(7);
    const { id } = await newestLetter();
    const redriven = await demo.svc('queue', 'dlq', 'redrive', id, '--payload', '{"to":"ann"}', '--yes');
    expect(redriven, redriven.stderr).toMatchObject({ code: 0 });
  });

  test('4 [TRC-7] Find what made a function slow', TASK, async () => {
    const steps = await inBrowser(async (user) => {
      await user.click('link', /^Traces/);
      await user.click('columnheader', /Duration/);
      await user.clickRow('POST /orders');
      await user.sees('row', /on the critical path/);
    });
    expect(steps).toBe(3);
    const [slowest] = await json('trace', 'list', '--attr', 'function_id=shop::order', '--sort', 'duration', '-n', '1');
    const critical = await demo.svc('trace', 'show', slowest.trace_id, '--critical');
    expect(critical.stdout).toContain('shop::order');
  });

  test('5 [FUN-8] Find who calls it', TASK, async () => {
    const steps = await inBrowser(async (user) => {
      await user.click('link', /^Functions/);
      await user.clickRow('warehouse::reserve');
      await user.click('tab', 'Overview');
      await user.page.getByRole('region', { name: 'Called by' }).getByRole('link', { name: 'shop::order' }).waitFor();
    });
    expect(steps).toBe(3);
    const { called_by: callers } = await json('function', 'info', 'warehouse::reserve');
    expect(callers).toContainEqual(expect.objectContaining({ function_id: 'shop::order' }));
  });

  test('6 [STA-1] Find what changed a state value', TASK, async () => {
    const steps = await inBrowser(async (user) => {
      await user.click('link', /^States/);
      await user.clickText('stock');
      await user.clickRow('apples');
      await user.click('link', 'Traces that changed it');
      await user.sees('row', /state::set/);
    });
    expect(steps).toBe(4);
    const [writer] = await json('trace', 'list', '--attr', 'svc.state.key=apples', '--internal', '-n', '1');
    expect(writer.name).toBe('call state::set');
  });

  test('7 [QUE-1] Find why a queue waits', TASK, async () => {
    await demo.svc('queue', 'pause', 'parcels');
    await waitFor('jobs wait', async () => (await json('queue', 'info', 'parcels')).waiting > 0, 30_000);
    const steps = await inBrowser(async (user) => {
      await user.click('link', /^Queues/);
      await user.clickRow('parcels');
      await user.page.getByText('paused', { exact: true }).first().waitFor();
    });
    expect(steps).toBe(2);
    expect((await demo.svc('queue', 'info', 'parcels')).stdout).toMatch(/paused/);
    await demo.svc('queue', 'resume', 'parcels');
  });

  test('8 [WRK-1] Find which worker runs an old version', TASK, async () => {
    const steps = await inBrowser(async (user) => {
      await user.click('link', /^Workers/);
      await user.sees('row', /stock.*\d+\.\d+\.\d+/);
    });
    expect(steps).toBe(1);
    const workers = await json('worker', 'list');
    expect(workers.find(({ name }: { name: string }) => name === 'stock').version).toMatch(/^\d+\.\d+\.\d+/);
  });
});

type Role = Parameters<Page['getByRole']>[0];

/** Counts what a user does. */
class User {
  readonly page: Page;
  steps = 0;

  constructor(page: Page) {
    this.page = page;
  }

  async click(role: Role, name: string | RegExp): Promise<void> {
    this.steps++;
    await this.page.getByRole(role, { name }).first().click();
  }

  async clickRow(text: string): Promise<void> {
    this.steps++;
    await this.page.getByRole('row').filter({ hasText: text }).first().click();
  }

  async clickText(text: string): Promise<void> {
    this.steps++;
    await this.page.locator('main').getByText(text, { exact: true }).first().click();
  }

  async type(place: string, text: string): Promise<void> {
    this.steps++;
    await this.page.locator(place).first().click();
    await this.page.keyboard.press('Control+a');
    await this.page.keyboard.press('Delete');
    await this.page.keyboard.insertText(text);
  }

  async sees(role: Role, name: string | RegExp): Promise<void> {
    if (role === 'row') await this.page.getByRole('row').filter({ hasText: name }).first().waitFor();
    else await this.page.getByRole(role, { name }).first().waitFor();
  }
}
