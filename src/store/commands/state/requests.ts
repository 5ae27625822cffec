// The requests of the state commands, parsed and validated: the same for every store that runs them.

import { createHash } from 'node:crypto';
import { Refusal } from '../../../core/calls/refusal.ts';
import { JSON_DEPTH_MAX } from '../../../protocol/frames/limits.ts';
import { skipValue } from '../../../protocol/json/json-scan.ts';
import { CommandInput } from '../../thread/command-input.ts';
import type { StoreLimits } from '../../thread/contract.ts';
import { type PageRequest, pageOf } from '../../thread/json-list.ts';

/** Names as UTF-8 bytes. */
export interface EntryRequest {
  readonly scope: Buffer;
  readonly key: Buffer;
}

/** `withVersion`: the reply is `{value, version}`. */
interface GetRequest extends EntryRequest {
  readonly withVersion: boolean;
}

export interface SetRequest extends EntryRequest {
  /** JSON as it was sent. */
  readonly value: Buffer;
  readonly condition: WriteCondition;
}

export interface DeleteRequest extends EntryRequest {
  readonly condition: WriteCondition;
}

export interface UpdateRequest extends EntryRequest {
  /** JSON. */
  readonly ops: Buffer;
}

export interface KeyFilter {
  /** Only keys that begin with it. */
  readonly prefix: Buffer | undefined;
  /** Only keys after it. */
  readonly after: Buffer | undefined;
}

export interface ListRequest extends KeyFilter {
  readonly scope: Buffer;
  readonly withKeys: boolean;
  /** Above 0: lists the first so many bytes of each value, with the other columns of a table, instead of values. */
  readonly previewBytes: number;
  /** Of lists with previews: only keys that contain it, ignoring case. */
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
  return { ...entry, ops };
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
/** Each level takes two brackets at least, so shorter values are not checked. */
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
 * `prefix` narrows a list; `after` is the name after which it begins. Pages that use `after` neither skip nor repeat
 * entries that stay, whatever is written or deleted between them. Pages that use `offset` do.
 */
function optionalName(input: CommandInput, field: 'prefix' | 'after' | 'contains'): Buffer | undefined {
  const json = input.json(field);
  const isGiven = json !== undefined && !NOT_GIVEN.includes(json.toString('latin1'));
  return isGiven ? input.name(field) : undefined;
}

/** Every name begins with an empty text. Clients in other languages send null for an omitted field. */
const NOT_GIVEN: readonly string[] = ['null', '""'];

/**
 * A caller that read an entry can ask that it be changed only if it has not changed since. The comparison is part of
 * the write.
 */
export interface WriteCondition {
  readonly ifVersion: string | undefined;
  readonly ifAbsent: boolean;
}

/** The version of an entry: a tag of its stored bytes. */
export function versionOf(value: Uint8Array): string {
  return createHash('sha1').update(value).digest('base64url').slice(0, TAG_CHARS);
}

/** 108 bits: two values do not get the same tag by accident, and there is no gain in forging one. */
const TAG_CHARS = 18;

function conditionIn(input: CommandInput): WriteCondition {
  const json = input.json('if_version');
  const version: unknown = json === undefined ? undefined : JSON.parse(json.toString('utf8'));
  if (version !== undefined && version !== null && typeof version !== 'string') {
    throw input.refusal("field 'if_version' must be string");
  }
  return { ifVersion: version ?? undefined, ifAbsent: input.flag('if_absent') };
}

/** Throws `CONFLICT` unless the entry meets the condition. */
export function checkCondition({ ifVersion, ifAbsent }: WriteCondition, before: Uint8Array | undefined): void {
  if (ifAbsent && before !== undefined) {
    throw new Refusal('CONFLICT', 'The entry already exists; nothing was written');
  }
  if (ifVersion === undefined) return;
  if (before === undefined) throw new Refusal('CONFLICT', 'The entry was deleted since it was read');
  if (versionOf(before) !== ifVersion) throw new Refusal('CONFLICT', 'The entry changed since it was read');
}
