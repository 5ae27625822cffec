// What the functions of state take and answer (modules 2.2).

import { ANY, FLAG, type FunctionFormats, LIST, OPERATIONS, objectFormat, PAGE, TEXT } from '../function-formats.ts';

const ENTRY = { scope: TEXT, key: TEXT };
const CHANGE = { old_value: ANY, new_value: ANY };

export const STATE_FORMATS: Readonly<Record<string, FunctionFormats>> = {
  'state::get': { requestFormat: objectFormat(ENTRY, { include_version: FLAG }) },
  'state::set': {
    requestFormat: objectFormat({ ...ENTRY, value: ANY }, { if_absent: FLAG, if_version: TEXT }),
    responseFormat: objectFormat(CHANGE),
  },
  'state::delete': { requestFormat: objectFormat(ENTRY, { if_version: TEXT }) },
  'state::update': {
    requestFormat: objectFormat({ ...ENTRY, ops: OPERATIONS }),
    responseFormat: objectFormat(CHANGE, { errors: LIST }),
  },
  'state::list': {
    requestFormat: objectFormat({ scope: TEXT }, { prefix: TEXT, after: TEXT, include_keys: FLAG, ...PAGE }),
  },
  'state::list_groups': {
    requestFormat: objectFormat({}, { after: TEXT, ...PAGE }),
    responseFormat: objectFormat({ groups: { type: 'array', items: TEXT } }),
  },
};
