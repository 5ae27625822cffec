// Triggers: kinds, conflicts of routes, requests, cron runs, filters in words.

import { describe, expect, test } from 'vitest';
import type { TriggerRow } from '../../../../../../src/console/api/registry.ts';
import { nextRuns } from '../../../../../../src/console/web/pages/triggers/logic/cron-runs.ts';
import {
  newTrace,
  parametersIn,
  requestPath,
  routeNotes,
} from '../../../../../../src/console/web/pages/triggers/logic/http-routes.ts';
import { filterInWords, kindSummaries } from '../../../../../../src/console/web/pages/triggers/logic/trigger-kinds.ts';

const HTTP = { id: 'http', description: '', worker_name: 'svc-http', available: true, reason: null };
const JOIN = { ...HTTP, id: 'stream:join' };

function route(id: string, path: string, method = 'GET'): TriggerRow {
  return {
    id,
    trigger_type: 'http',
    function_id: `fn::${id}`,
    worker_name: 'w',
    worker_id: null,
    config: { api_path: path, http_method: method },
    config_summary: '',
    metadata: null,
    status: 'Active',
    reason: null,
    last_fired_at: null,
    next_fire_time: null,
  };
}

describe('Kinds of triggers', () => {
  test('[TRG-1] Types of one kind are counted together, and a kind without a module names what it needs', () => {
    const cron = { ...HTTP, id: 'cron', count: 0, available: false, reason: 'Needs the module svc-cron' };
    const facts = kindSummaries([
      { ...HTTP, count: 2 },
      { ...HTTP, id: 'stream', count: 1 },
      { ...JOIN, count: 3 },
      cron,
    ]);
    const of = (kind: string) => facts.find((one) => one.kind === kind);
    expect(of('all')?.count).toBe(6);
    expect(of('stream')?.count).toBe(4);
    expect(of('cron')?.missing).toBe('Needs the module svc-cron');
    expect(of('other')).toBeUndefined();
  });

  test('[TRG-1] Before the engine has answered, no kind is shown as missing', () => {
    expect(kindSummaries(undefined).every(({ missing }) => missing === undefined)).toBe(true);
  });
});

describe('HTTP routes', () => {
  test('[TRG-3] A literal segment takes requests from a parameter at its place, only for the same method', () => {
    const rows = [route('a', '/users/:id'), route('b', '/users/me'), route('c', '/users/:id', 'DELETE')];
    const notes = routeNotes(rows);
    expect([...notes.keys()]).toEqual(['a']);
    expect(notes.get('a')).toMatchObject({ kind: 'shadowed', text: 'Requests for /users/me go to fn::b' });
  });

  test('[TRG-3] Routes without a common path do not conflict', () => {
    const rows = [route('a', '/a/:id/x'), route('b', '/a/me/y'), route('c', '/:any/b'), route('d', '/e/f')];
    expect(routeNotes(rows).size).toBe(0);
  });

  test('[TRG-3] Two routes of one shape conflict, whatever their parameters are called', () => {
    const notes = routeNotes([route('a', '/users/:id'), route('b', '/users/:name')]);
    expect([...notes.values()].map(({ kind }) => kind)).toEqual(['conflict', 'conflict']);
  });

  test('[TRG-3] Parameters and query are escaped, and missing parameters stay as they are', () => {
    const params = { id: 'a/b c', other: '' };
    const query = [['q', '1&2'] as const, ['', 'left out'] as const];
    expect(requestPath({ path: '/o/:id/:other', params, query })).toBe('/o/a%2Fb%20c/:other?q=1%262');
    expect(parametersIn('/o/:id/x/:other')).toEqual(['id', 'other']);
  });

  test('[TRG-3] The trace id is chosen before the request is sent, in the standard format', () => {
    const { id, header } = newTrace((bytes) => bytes.fill(0xab));
    expect(header).toBe(`00-${id}-${'ab'.repeat(8)}-01`);
    expect(id).toBe('ab'.repeat(16));
  });
});

describe('Cron', () => {
  test('[TRG-4] The next runs of six and seven fields, in the time zone of the trigger', () => {
    const from = Date.parse('2026-06-01T00:00:30Z');
    const daily = nextRuns('0 30 6 * * *', 'Europe/Berlin', from, 2);
    const iso = daily.ok ? daily.runs.map((ms) => new Date(ms).toISOString()) : [];
    expect(iso).toEqual(['2026-06-01T04:30:00.000Z', '2026-06-02T04:30:00.000Z']);
    const once = nextRuns('0 0 0 1 1 * 2027', 'UTC', from, 5);
    expect(once.ok && once.runs).toEqual([Date.parse('2027-01-01T00:00:00Z')]);
    expect(nextRuns('nonsense', 'UTC', from, 5)).toMatchObject({ ok: false });
  });
});

describe('Filters in words', () => {
  test.each([
    ['state', { scope: 'orders', key: 'k' }, 'When the key “k” of the scope “orders” changes'],
    ['state', {}, 'When any entry of the state changes'],
    ['stream:join', { stream_name: 'chat' }, 'When a client joins a group of the stream “chat”'],
    ['log', { level: 'error' }, 'For every log record of exactly the level ERROR'],
    [
      'event',
      { name: 'user.*' },
      'When an event is published whose name matches “user.*”; * stands for any characters',
    ],
  ])('[TRG-6] %s %j', (type, config, words) => {
    expect(filterInWords(type, config)).toBe(words);
  });
});
