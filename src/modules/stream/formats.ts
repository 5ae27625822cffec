// What the functions of streams take, and answer in both modes (modules 4.2).

import { ANY, FLAG, type FunctionFormats, LIST, OPERATIONS, objectFormat, PAGE, TEXT } from '../function-formats.ts';

const GROUP = { stream_name: TEXT, group_id: TEXT };
const ITEM = { ...GROUP, item_id: TEXT };
const CHANGE = { old_value: ANY, new_value: ANY };

export const STREAM_FORMATS: Readonly<Record<string, FunctionFormats>> = {
  'stream::set': { requestFormat: objectFormat({ ...ITEM, data: ANY }), responseFormat: objectFormat(CHANGE) },
  'stream::get': { requestFormat: objectFormat(ITEM) },
  'stream::delete': { requestFormat: objectFormat(ITEM), responseFormat: objectFormat({ old_value: ANY }) },
  'stream::update': {
    requestFormat: objectFormat({ ...ITEM, ops: OPERATIONS }),
    responseFormat: objectFormat(CHANGE, { errors: LIST }),
  },
  'stream::list': { requestFormat: objectFormat(GROUP, { include_ids: FLAG, ...PAGE }) },
  'stream::list_groups': { requestFormat: objectFormat({ stream_name: TEXT }, { include_empty: FLAG, ...PAGE }) },
  'stream::list_all': { requestFormat: objectFormat({}, { include_empty: FLAG, ...PAGE }) },
  'stream::send': { requestFormat: objectFormat({ ...GROUP, type: TEXT, data: ANY }, { id: TEXT }) },
};
