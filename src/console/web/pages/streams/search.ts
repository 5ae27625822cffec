// The address of the Streams page.

import { param, type SearchValues } from '../../data/search.ts';

export const BUFFERS = ['5000', '1000', '20000', '100000'] as const;

export const STREAMS_SEARCH = {
  tab: param.choice(['monitor', 'browse']),
  /** `stream` or `stream/group`, several. */
  sub: param.list(),
  dir: param.choice(['all', 'inbound', 'outbound']),
  system: param.flag(),
  q: param.text(),
  /** Of the buffer: since the page was opened. */
  msg: param.optional(),
  buffer: param.choice(BUFFERS),
  stream: param.optional(),
  group: param.optional(),
  item: param.optional(),
};

export type StreamsSearch = SearchValues<typeof STREAMS_SEARCH>;

/** For views that have no data yet. */
export const STREAM_EXAMPLE =
  `svc trigger stream::set stream_name=orders group_id=new ` + `item_id=o-1 data:='{"sku":"lamp"}'`;
