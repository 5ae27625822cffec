// The flow graph, and the places of its nodes that a user chose.

import { validateFlowLayout, validateFlowQuery, validateNoQuery } from '../../../generated/console-requests.ts';
import { RAW_NULL, type RawJson } from '../../../protocol/json/byte-string.ts';
import type { Desk } from '../desk.ts';
import { failure } from '../facts/failure.ts';
import { objectText, RawAnswer } from '../facts/json-text.ts';
import { flowGraph } from './flow-graph.ts';
import { type Route, reading, sending } from './route.ts';

/** As in `iii` (modules 19). */
const SCOPE = '__console.flowConfigs';
const LAYOUT_ID = /^[\w.-]{1,128}$/;

export function flowRoutes(desk: Desk): readonly Route[] {
  const { builtIns } = desk;
  return [
    reading('GET /flow/graph', validateFlowQuery, ({ query }) => flowGraph(desk, query)),
    reading('GET /flow/layout/{id}', validateNoQuery, async ({ name }) => {
      const key = layoutId(name(0));
      return layout(key, await builtIns.text('state::get', { scope: SCOPE, key }));
    }),
    sending('PUT /flow/layout/{id}', validateFlowLayout, async ({ name, raw }) => {
      const key = layoutId(name(0));
      const config = raw('config') ?? RAW_NULL;
      await builtIns.ofText('state::set', objectText({ scope: SCOPE, key }, { value: config }));
      return layout(key, config);
    }),
  ];
}

function layout(id: string, config: RawJson): RawAnswer {
  return new RawAnswer(objectText({ id }, { config }));
}

function layoutId(id: string): string {
  if (LAYOUT_ID.test(id)) return id;
  throw failure('BAD_REQUEST', `The id of a layout has letters, digits, '-', '_' and '.', at most 128`);
}
