// What the monitor of the Streams page computes: filters, rates, gaps in sequences, streams that are too fast to read.

import { expect, test } from 'vitest';
import type { StreamTap } from '../../../../../../src/console/api/live.ts';
import {
  contentOf,
  foldFast,
  isMeant,
  type MonitorLine,
  missedBefore,
  previousOfItem,
  ratesOf,
} from '../../../../../../src/console/web/pages/streams/stream-messages.ts';

const tap = (given: Partial<StreamTap> = {}): StreamTap => ({
  at: 1_000,
  direction: 'outbound',
  stream: 'orders',
  group: 'new',
  item: 'o-1',
  event: 'update',
  bytes: 10,
  payload: { sku: 'lamp' },
  seq: null,
  epoch: null,
  receivers: 1,
  ...given,
});
const ALL = { direction: 'all', subs: [], q: '' } as const;

test('[STR-2] A row shows the subject of a message, not its envelope', () => {
  const framed = {
    type: 'stream',
    timestamp: 1,
    streamName: 'orders',
    event: { type: 'update', data: { sku: 'lamp' } },
  };
  expect(contentOf(tap({ payload: framed }))).toBe('{"sku":"lamp"}');
  expect(contentOf(tap({ payload: { type: 'join', groupId: 'new' } }))).toBe('{"type":"join","groupId":"new"}');
  expect(contentOf(tap({ payload: null }))).toBe('null');
});

test('[STR-2] Messages are found by direction, by stream or group, and by their text', () => {
  expect(isMeant(tap(), { ...ALL, direction: 'inbound' })).toBe(false);
  expect(isMeant(tap(), { ...ALL, subs: ['orders'] })).toBe(true);
  expect(isMeant(tap(), { ...ALL, subs: ['orders/old'] })).toBe(false);
  expect(isMeant(tap(), { ...ALL, subs: ['x', 'orders/new'] })).toBe(true);
  expect(isMeant(tap(), { ...ALL, q: 'LAMP' })).toBe(true);
  expect(isMeant(tap(), { ...ALL, q: 'chair' })).toBe(false);
});

test('[STR-5] Missing sequence numbers are counted, and a new epoch starts the count again', () => {
  const taps = [
    tap({ seq: 1, epoch: 'a' }),
    tap({ seq: 2, epoch: 'a' }),
    tap({ seq: 9, epoch: 'a', group: 'other' }),
    tap({ seq: 5, epoch: 'a' }),
    tap({ seq: 9, epoch: 'b' }),
    tap({ seq: null, direction: 'inbound' }),
  ];
  expect(missedBefore(taps)).toEqual([0, 0, 0, 2, 0, 0]);
});

test('[STR-4] Rates are those of the last second before the newest message, for each stream', () => {
  const taps = [tap({ at: 0 }), tap({ at: 1_500 }), tap({ at: 2_000, stream: 'x' }), tap({ at: 2_100 })];
  expect([...ratesOf(taps)]).toEqual([
    ['orders', 2],
    ['x', 1],
  ]);
});

test('[STR-4] A stream that is too fast is one row with a count until it is opened', () => {
  const line = (id: string, stream: string): MonitorLine => ({ kind: 'message', id, tap: tap({ stream }), missed: 0 });
  const lines = [line('3', 'fast'), line('2', 'slow'), line('1', 'fast')];
  expect(foldFast(lines, new Set(['fast']), new Set()).map(({ id }) => id)).toEqual(['fast fast', '2']);
  expect(foldFast(lines, new Set(['fast']), new Set())[0]).toMatchObject({ count: 2, open: false });
  expect(foldFast(lines, new Set(['fast']), new Set(['fast'])).map(({ id }) => id)).toEqual([
    'fast fast',
    '3',
    '2',
    '1',
  ]);
});

test('[STR-2] An update is compared with the last message of the same item', () => {
  const first = tap({ payload: { sku: 'lamp' } });
  const other = tap({ item: 'o-2', payload: { sku: 'desk' } });
  const second = tap({ payload: { sku: 'vase' } });
  expect(previousOfItem([first, other, second], second)).toBe(first);
  expect(previousOfItem([first, other, second], first)).toBeUndefined();
});
