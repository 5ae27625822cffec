// JSON schemas of the functions of modules: shown in lists, used by forms of the console, by help of the command line
// and by `svc types generate`. The functions check their payloads themselves, with messages of their own.

import { type RawJson, rawJson } from '../protocol/json/byte-string.ts';

export interface FunctionFormats {
  readonly requestFormat: RawJson;
  /** Absent: any value. */
  readonly responseFormat?: RawJson;
}

type Properties = Readonly<Record<string, object>>;

/** An object of which the first properties are required. */
export function objectFormat(required: Properties, optional: Properties = {}): RawJson {
  return rawJson(objectSchema(required, optional));
}

export function objectSchema(required: Properties, optional: Properties = {}): object {
  const names = Object.keys(required);
  return {
    type: 'object',
    properties: { ...required, ...optional },
    ...(names.length > 0 && { required: names }),
  };
}

export const TEXT = { type: 'string' };
export const FLAG = { type: 'boolean' };
export const WHOLE = { type: 'integer', minimum: 0 };
export const ANY = {};
export const LIST = { type: 'array' };
export const PAGE = { offset: WHOLE, limit: WHOLE };

/** Operations of an update (modules 3). */
export const OPERATIONS = {
  type: 'array',
  items: objectSchema(
    { type: { enum: ['set', 'merge', 'increment', 'decrement', 'append', 'remove'] } },
    { path: { anyOf: [TEXT, { type: 'array', items: TEXT }] }, value: ANY, by: { type: 'integer' } },
  ),
};
