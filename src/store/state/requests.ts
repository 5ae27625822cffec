// What the commands of state are asked, read and checked: the same for every store that runs them.

import { type JsonValue, parseExactJson } from '../../core/exact-json.ts';
import { Refusal } from '../../core/refusal.ts';
import { skipValue } from '../../protocol/json-scan.ts';
import { JSON_DEPTH_MAX } from '../../protocol/limits.ts';
import { CommandInput } from '../command-input.ts';
import type { StoreLimits } from '../contract.ts';
import { type PageRequest, pageOf } from '../json-list.ts';
import { conditionIn, type WriteCondition } from './versions.ts';

/** Names as the bytes of their UTF-8 form. */
export interface EntryRequest {
  readonly scope: Buffer;
  readonly key: Buffer;
}

/** `withVersion`: the answer is `{value, version}`. */
export interface GetRequest extends EntryRequest {
  readonly withVersion: boolean;
}

export interface SetRequest extends EntryRequest {
  /** JSON as it came. */
  readonly value: Buffer;
  readonly condition: WriteCondition;
}

export interface DeleteRequest extends EntryRequest {
  readonly condition: WriteCondition;
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
  /** Above 0: no values, but the first so many bytes of each, and what else a table shows. */
  readonly previewBytes: number;
  /** Of lists with previews: only keys that hold it, in any case. */
  readonly contains: Buffer | undefined;
  readonly page: PageRequest;
}

export interface GroupsRequest {
  readonly after: Buffer | undefined;
  readonly page: PageRequest;
}

export function readGetRequest(bytes: Uint8Array): GetRequest {
  const input = new CommandInput('state::get', bytes);
  return { ...entryIn(input), withVersion: input.flag('include_version') };
}

export function readDeleteRequest(bytes: Uint8Array): DeleteRequest {
  const input = new CommandInput('state::delete', bytes);
  return { ...entryIn(input), condition: conditionIn(input) };
}

export function readSetRequest(bytes: Uint8Array, limits: StoreLimits): SetRequest {
  const input = new CommandInput('state::set', bytes);
  const entry = entryIn(input);
  const value = input.json('value') ?? input.json('data');
  if (value === undefined) throw input.refusal("field 'value' must be given");
  checkValue('The value for state::set', value, limits);
  return { ...entry, value, condition: conditionIn(input) };
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
  const previewBytes = input.wholeNumber('preview_bytes', 1, PREVIEW_BYTES_MAX) ?? 0;
  const contains = optionalName(input, 'contains');
  return { scope, ...filter, withKeys: input.flag('include_keys'), previewBytes, contains, page: pageOf(input) };
}

export function readGroupsRequest(bytes: Uint8Array): GroupsRequest {
  const input = new CommandInput('state::list_groups', bytes);
  const page = pageOf(input);
  return { page, after: optionalName(input, 'after') };
}

const PREVIEW_BYTES_MAX = 4_096;

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
function optionalName(input: CommandInput, field: 'prefix' | 'after' | 'contains'): Buffer | undefined {
  const json = input.json(field);
  const isGiven = json !== undefined && !NOT_GIVEN.includes(json.toString('latin1'));
  return isGiven ? input.name(field) : undefined;
}

/** Every name begins with an empty text; clients of other languages send null for what was left out. */
const NOT_GIVEN: readonly string[] = ['null', '""'];
