// What the commands of state are asked, read and checked: the same for every store that runs them.

import { type JsonValue, parseExactJson } from '../../core/exact-json.ts';
import { Refusal } from '../../core/refusal.ts';
import { skipValue } from '../../protocol/json-scan.ts';
import { JSON_DEPTH_MAX } from '../../protocol/limits.ts';
import { CommandInput } from '../command-input.ts';
import type { StoreLimits } from '../contract.ts';
import { type PageRequest, pageOf } from '../json-list.ts';

/** Names as the bytes of their UTF-8 form. */
export interface EntryRequest {
  readonly scope: Buffer;
  readonly key: Buffer;
}

export interface SetRequest extends EntryRequest {
  /** JSON as it came. */
  readonly value: Buffer;
}

export interface UpdateRequest extends EntryRequest {
  readonly ops: JsonValue;
}

export interface KeyFilter {
  /** Only keys that begin with it. */
  readonly prefix: Buffer | undefined;
  /** Only what comes behind it. */
  readonly after: Buffer | undefined;
}

export interface ListRequest extends KeyFilter {
  readonly scope: Buffer;
  readonly withKeys: boolean;
  readonly page: PageRequest;
}

export interface GroupsRequest {
  readonly after: Buffer | undefined;
  readonly page: PageRequest;
}

export function readEntryRequest(functionId: 'state::get' | 'state::delete', bytes: Uint8Array): EntryRequest {
  return entryIn(new CommandInput(functionId, bytes));
}

export function readSetRequest(bytes: Uint8Array, limits: StoreLimits): SetRequest {
  const input = new CommandInput('state::set', bytes);
  const entry = entryIn(input);
  const value = input.json('value') ?? input.json('data');
  if (value === undefined) throw input.refusal("field 'value' must be given");
  checkValue('The value for state::set', value, limits);
  return { ...entry, value };
}

export function readUpdateRequest(bytes: Uint8Array): UpdateRequest {
  const input = new CommandInput('state::update', bytes);
  const entry = entryIn(input);
  const ops = input.json('ops');
  if (ops === undefined) throw input.refusal("field 'ops' must be given");
  return { ...entry, ops: parseExactJson(ops.toString('utf8')) };
}

export function readListRequest(bytes: Uint8Array): ListRequest {
  const input = new CommandInput('state::list', bytes);
  const scope = input.name('scope');
  const filter = { prefix: optionalName(input, 'prefix'), after: optionalName(input, 'after') };
  return { scope, ...filter, withKeys: input.flag('include_keys'), page: pageOf(input) };
}

export function readGroupsRequest(bytes: Uint8Array): GroupsRequest {
  const input = new CommandInput('state::list_groups', bytes);
  const page = pageOf(input);
  return { page, after: optionalName(input, 'after') };
}

/** A list with keys wraps a value twice, and has to be readable too. */
const WRAPPED_LEVELS = 2;
/** Each level takes two brackets at least: shorter values are not looked at. */
const DEPTH_MAX = JSON_DEPTH_MAX - WRAPPED_LEVELS;

export function checkValue(what: string, value: Uint8Array, { stateValueBytes }: StoreLimits): void {
  if (value.length > stateValueBytes) {
    const text = `${what} has ${value.length} bytes, over the limit of ${stateValueBytes}`;
    throw new Refusal('PAYLOAD_TOO_LARGE', text);
  }
  if (value.length < 2 * DEPTH_MAX || skipValue(value, 0, WRAPPED_LEVELS) >= 0) return;
  throw new Refusal('BAD_REQUEST', `${what} is nested deeper than ${DEPTH_MAX} levels`);
}

function entryIn(input: CommandInput): EntryRequest {
  return { scope: input.name('scope'), key: input.name('key') };
}

/**
 * `prefix` narrows a list; `after` is the name behind which it begins. Pages that begin there neither skip nor repeat
 * what stays, whatever is written or deleted between them; with `offset` they do.
 */
function optionalName(input: CommandInput, field: 'prefix' | 'after'): Buffer | undefined {
  return input.json(field) === undefined ? undefined : input.name(field);
}
