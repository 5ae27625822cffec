// The Flow page, over a real engine with real workers.

import { readFile } from 'node:fs/promises';
import type { Page } from 'playwright-core';
import { beforeAll, describe, expect, test } from 'vitest';
import { hasChromium } from '../support/chromium.ts';
import { axeFindings, openConsole } from '../support/console-page.ts';
import { consoleSite } from '../support/console-site.ts';

const DRAW_MS_MAX = 20_000;

describe.skipIf(!hasChromium)('Flow', () => {
  const site = consoleSite({ workers: ['billing', 'shop', 'office'], flags: ['--enable-flow'] });

  beforeAll(async () => {
    const body = JSON.stringify({ function_id: 'orders::create', payload: { sku: 'lamp', email: 'a@example.org' } });
    const headers = { 'content-type': 'application/json' };
    await fetch(`${site.scene.url}/api/invoke`, { method: 'POST', headers, body });
  });

  const open = (path = '/flow') => openConsole(site.browser, `${site.scene.url}${path}`);
  const node = (page: Page, name: string) => page.getByRole('group', { name, exact: true });

  test('[FLO-1] [FLO-2] draws triggers with their methods, functions, and the objects that calls use', async () => {
    await using opened = await open();
    const { page } = opened;
    await node(page, 'trigger POST /orders').waitFor({ timeout: DRAW_MS_MAX });
    expect(await node(page, 'trigger POST /orders').innerText()).toContain('POST');
    await node(page, 'function orders::create').waitFor();
    await node(page, 'queue mail').waitFor();
    expect(await page.locator('.react-flow__edge.registered').count()).toBeGreaterThan(0);
    expect(await page.locator('.react-flow__edge.seen').count()).toBeGreaterThan(0);
  });

  test('[FLO-1] [FLO-3] A node that was moved by hand stays there after a reload, until the layout is reset', async () => {
    await using opened = await open();
    const { page } = opened;
    const moved = node(page, 'function stock::nightly');
    await moved.waitFor({ timeout: DRAW_MS_MAX });
    const stored = page.waitForResponse((answer) => answer.request().method() === 'PUT');
    await moved.focus();
    await page.keyboard.press('Enter');
    await page.keyboard.press('ArrowDown');
    await stored;
    const reset = page.getByRole('button', { name: 'Reset layout' });
    expect(await reset.isEnabled()).toBe(true);
    await page.reload();
    await moved.waitFor({ timeout: DRAW_MS_MAX });
    await page.waitForFunction(() => !document.querySelector('main button[disabled]'));
    await reset.click();
    await page.getByRole('button', { name: 'Reset layout', disabled: true }).waitFor();
  });

  test('[FLO-4] finds a node, shows its neighbourhood, hides kinds, and groups', async () => {
    await using opened = await open('/flow?focus=function:orders::create&hops=1');
    const { page } = opened;
    await node(page, 'function billing::charge').waitFor({ timeout: DRAW_MS_MAX });
    expect(await node(page, 'function stock::nightly').count()).toBe(0);
    await page.getByRole('button', { name: 'Around orders::create' }).click();
    await node(page, 'function stock::nightly').waitFor();
    await page.getByRole('button', { name: 'Triggers', exact: true }).click();
    await node(page, 'trigger POST /orders').waitFor({ state: 'detached' });
    await page.getByLabel('Group by').selectOption('namespace');
    await page.getByRole('button', { name: 'orders', exact: true }).click();
    await node(page, 'Group of 5 orders').waitFor();
    await page.getByRole('searchbox', { name: 'Search the flow' }).fill('nightly');
    await page.getByText('1 found').waitFor();
    expect(new URL(page.url()).searchParams.get('hide')).toBe('trigger');
  });

  test('[FLO-4] exports the picture as SVG', async () => {
    await using opened = await open();
    const { page } = opened;
    await node(page, 'function orders::create').waitFor({ timeout: DRAW_MS_MAX });
    const [file] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'SVG', exact: true }).click(),
    ]);
    const text = await readFile(await file.path(), 'utf8');
    expect(text).toMatch(/^<svg xmlns/);
    expect(text).toContain('orders::create');
    expect(text).not.toContain('<script');
  });

  test('[FLO-5] a node opens the detail of its object', async () => {
    await using opened = await open();
    const { page } = opened;
    await node(page, 'function billing::charge').click({ timeout: DRAW_MS_MAX });
    await page.getByRole('complementary', { name: 'Function billing::charge' }).waitFor();
    expect(new URL(page.url()).searchParams.get('id')).toBe('function:billing::charge');
    await page.getByRole('button', { name: 'Close', exact: true }).click();
    await page.getByRole('complementary').waitFor({ state: 'detached' });
  });

  test('[FLO-1] A console without Flow shows how to enable it', async () => {
    await using opened = await openConsole(site.browser, `${await site.scene.startConsole({})}/flow`);
    const { page } = opened;
    await page.getByText('svc console --enable-flow').waitFor();
    expect(await page.getByRole('navigation').getByRole('link', { name: 'Flow' }).count()).toBe(0);
  });

  test('[ACC-1] no findings of axe', async () => {
    await using opened = await open();
    const { page } = opened;
    await node(page, 'function orders::create').waitFor({ timeout: DRAW_MS_MAX });
    expect(await axeFindings(page)).toEqual([]);
  });
});
