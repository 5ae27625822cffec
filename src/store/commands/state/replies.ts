// The replies and events of the state commands, and the new value of an update: the same for every store that runs
// them.

import { Buffer } from 'node:buffer';
import { type JsonValue, parseExactJson } from '../../../core/calls/exact-json.ts';
import { applyUpdates } from '../../../core/update-ops/index.ts';
import type { CommandContext, StoreEvent, StoreLimits, StoreReply } from '../../thread/contract.ts';
import { JsonList } from '../../thread/json-list.ts';
import {
  checkValue,
  type EntryRequest,
  type GroupsRequest,
  type ListRequest,
  type SetRequest,
  type UpdateRequest,
  versionOf,
} from './requests.ts';

/** A value as JSON; `undefined`: there is none. */
type Value = Uint8Array | undefined;

export function getReply({ isDropIn }: CommandContext, value: Value, withVersion = false): StoreReply {
  if (withVersion) return { result: versioned(value) };
  // A missing value: null, or in drop-in mode no result at all (PD-2a).
  if (value === undefined) return isDropIn ? {} : { result: NULL };
  return { result: value };
}

/** `{"value":…,"version":…}`; both are null if there is no value. */
function versioned(value: Value): Buffer {
  const version = value === undefined ? null : versionOf(value);
  return Buffer.concat([VALUE, value ?? NULL, Buffer.from(`,"version":${JSON.stringify(version)}}`)]);
}

/** The number of the change in its store. It is asked for only if the change is reported. */
export type ChangeNumber = () => number;

export function setReply(
  context: CommandContext,
  { scope, key, value }: SetRequest,
  before: Value,
  seq: ChangeNumber,
): StoreReply {
  return { result: pairOf(before, value), events: changeEvents(context, { scope, key, before, after: value, seq }) };
}

export function deleteReply(
  context: CommandContext,
  { scope, key }: EntryRequest,
  before: Value,
  seq: ChangeNumber,
): StoreReply {
  if (before === undefined) return getReply(context, before);
  return { result: before, events: changeEvents(context, { scope, key, before, after: undefined, seq }) };
}

export interface Updated {
  /** The value to write; `undefined`: nothing changed (S2). */
  readonly after: Buffer | undefined;
  /** Operations that failed, as JSON. */
  readonly failed: Buffer | undefined;
}

/** Throws a refusal for invalid operations, and for a new value that is too large. */
export function updated({ ops }: Pick<UpdateRequest, 'ops'>, before: Value, limits: StoreLimits): Updated {
  const { newValue, errors, hasChanged } = applyUpdates(before && parse(before), parse(ops));
  const failed = errors.length === 0 ? undefined : Buffer.from(JSON.stringify(errors));
  if (!hasChanged) return { after: undefined, failed };
  const after = Buffer.from(JSON.stringify(newValue ?? null));
  checkValue('The new value of state::update', after, limits);
  return { after, failed };
}

export function updateReply(
  context: CommandContext,
  { scope, key }: EntryRequest,
  before: Value,
  { after, failed }: Updated,
  seq: ChangeNumber,
): StoreReply {
  if (after === undefined) return { result: pairOf(before, before, failed) };
  return { result: pairOf(before, after, failed), events: changeEvents(context, { scope, key, before, after, seq }) };
}

/** `entries` in key order: those of the page and one more. */
export function listReply({ withKeys, page }: ListRequest, entries: Iterable<ListEntry>): StoreReply {
  const list = new JsonList('state::list', page);
  for (const { key, value } of entries) {
    if (withKeys) list.add(Buffer.from(`{"key":${JSON.stringify(key.toString('utf8'))},"value":`), value, END);
    else list.add(value);
  }
  return { result: list.end() };
}

export interface ListEntry {
  readonly key: Buffer;
  readonly value: Uint8Array;
  /** When it was last written, if known. */
  readonly writtenMs?: number | undefined;
}

export function groupsReply({ page }: GroupsRequest, scopes: Iterable<Buffer>): StoreReply {
  const list = new JsonList('state::list_groups', page);
  for (const scope of scopes) list.add(Buffer.from(JSON.stringify(scope.toString('utf8'))));
  return { result: Buffer.concat([GROUPS, list.end(), END]) };
}

/** `{"old_value":…,"new_value":…}`, with `errors` only if there are any. */
function pairOf(before: Value, after: Value, errors?: Value): Buffer {
  const pair = [OLD_VALUE, before ?? NULL, NEW_VALUE, after ?? NULL];
  return Buffer.concat(errors === undefined ? [...pair, END] : [...pair, ERRORS, errors, END]);
}

function parse(json: Uint8Array): JsonValue {
  return parseExactJson(Buffer.from(json.buffer, json.byteOffset, json.length).toString('utf8'));
}

const NULL = Buffer.from('null');
const VALUE = Buffer.from('{"value":');
const OLD_VALUE = Buffer.from('{"old_value":');
const NEW_VALUE = Buffer.from(',"new_value":');
const ERRORS = Buffer.from(',"errors":');
const GROUPS = Buffer.from('{"groups":');
const END = Buffer.from('}');

/** A change of an entry. Values are JSON; `undefined`: there was, or is, no value. */
interface Change {
  readonly scope: Uint8Array;
  readonly key: Uint8Array;
  readonly before: Uint8Array | undefined;
  readonly after: Uint8Array | undefined;
  readonly seq: ChangeNumber;
}

/** Empty if no trigger listens. */
function changeEvents(context: CommandContext, change: Change): readonly StoreEvent[] {
  return context.wantsEvents ? [changeEvent(context, change)] : NONE;
}

/** The event for the `state` trigger, written once on the store's thread. */
export function changeEvent(context: Pick<CommandContext, 'nowMs' | 'isDropIn'>, change: Change): StoreEvent {
  const scope = textOf(change.scope);
  const key = textOf(change.key);
  const kind = kindOf(context, change);
  const seq = change.seq();
  const names = `{"type":"state","event_type":"${kind}","scope":${JSON.stringify(scope)},"key":${JSON.stringify(key)}`;
  const body = Buffer.concat([
    Buffer.from(`${names},"old_value":`),
    change.before ?? NULL,
    NEW_VALUE,
    change.after ?? NULL,
    Buffer.from(`,"timestamp":${Math.trunc(context.nowMs)},"seq":${seq}}`),
  ]);
  return { path: [scope, key], kind, seq, body };
}

/** The first write is an update like any other. `iii` has a separate event type for it (PD-3). */
function kindOf({ isDropIn }: Pick<CommandContext, 'isDropIn'>, { before, after }: Change): string {
  if (after === undefined) return 'state:deleted';
  return isDropIn && before === undefined ? 'state:created' : 'state:updated';
}

const NONE: readonly StoreEvent[] = [];

function textOf(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('utf8');
}
