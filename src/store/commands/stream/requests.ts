// The requests of the stream commands, parsed and validated: the same for every store that runs them.

import { Refusal } from '../../../core/calls/refusal.ts';
import { JSON_DEPTH_MAX } from '../../../protocol/frames/limits.ts';
import { skipValue } from '../../../protocol/json/json-scan.ts';
import { CommandInput } from '../../thread/command-input.ts';
import type { GroupRef, StoreLimits } from '../../thread/contract.ts';
import { type PageRequest, pageOf } from '../../thread/json-list.ts';
import type { EventKind, ItemRef, Subject } from './messages.ts';

export interface SetRequest extends ItemRef {
  /** JSON as it was sent. */
  readonly data: Buffer;
}

export interface UpdateRequest extends ItemRef {
  /** JSON. */
  readonly ops: Buffer | undefined;
}

/** An event without a change in this store: `stream::send`, and a change that a custom stream made itself. */
export interface EventRequest extends Subject {
  readonly kind: EventKind;
  readonly payload: Buffer;
}

export interface ListRequest extends GroupRef {
  readonly withIds: boolean;
  readonly page: PageRequest;
}

export interface SubscribeRequest extends Subject {
  /** The last event that a returning subscriber has seen. */
  readonly since: { readonly epoch: string; readonly seq: number } | undefined;
  /** The subscriber never left: this engine has sent it everything up to `since`, and holds what follows for it. */
  readonly isLive: boolean;
}

export function readItemRequest(functionId: 'stream::get' | 'stream::delete', bytes: Uint8Array): ItemRef {
  return itemIn(new CommandInput(functionId, bytes));
}

export function readSetRequest(bytes: Uint8Array, limits: StoreLimits): SetRequest {
  const input = new CommandInput('stream::set', bytes);
  return { ...itemIn(input), data: dataIn(input, 'The data for stream::set', limits) };
}

export function readUpdateRequest(bytes: Uint8Array): UpdateRequest {
  const input = new CommandInput('stream::update', bytes);
  const place = itemIn(input);
  const ops = input.json('ops');
  return { ...place, ops };
}

export function readSendRequest(bytes: Uint8Array, limits: StoreLimits): EventRequest {
  const input = new CommandInput('stream::send', bytes);
  const item = optionalName(input, 'id');
  const type = JSON.stringify(textOf(input.name('type')));
  const data = dataIn(input, 'The data for stream::send', limits);
  const payload = Buffer.concat([Buffer.from(`{"type":${type},"data":`), data, Buffer.from('}')]);
  return { ...groupIn(input), item, kind: 'event', payload };
}

/** `{stream_name, group_id, item_id, kind, data}`. */
export function readAnnounceRequest(bytes: Uint8Array, limits: StoreLimits): EventRequest {
  const input = new CommandInput('stream.announce', bytes);
  const kind = CHANGES.find((word) => word === textOf(input.name('kind')));
  if (kind === undefined) throw input.refusal("field 'kind' must be create, update or delete");
  return { ...itemIn(input), kind, payload: dataIn(input, 'The value of the custom stream', limits) };
}

export function readListRequest(bytes: Uint8Array): ListRequest {
  const input = new CommandInput('stream::list', bytes);
  const withIds = input.flag('include_ids');
  const page = pageOf(input);
  return { ...groupIn(input), withIds, page };
}

export interface PlacesRequest {
  /** Also groups without items, as long as an event of theirs is kept. */
  readonly withEmpty: boolean;
  readonly page: PageRequest;
}

export function readGroupsRequest(bytes: Uint8Array): PlacesRequest & { readonly stream: string } {
  const input = new CommandInput('stream::list_groups', bytes);
  return { ...placesIn(input), stream: textOf(input.name('stream_name')) };
}

export function readAllRequest(bytes: Uint8Array): PlacesRequest {
  return placesIn(new CommandInput('stream::list_all', bytes));
}

function placesIn(input: CommandInput): PlacesRequest {
  return { page: pageOf(input), withEmpty: input.flag('include_empty') };
}

export function readSubscribeRequest(bytes: Uint8Array): SubscribeRequest {
  const input = new CommandInput('the subscription', bytes);
  const subject = { ...groupIn(input), item: optionalName(input, 'id') };
  const seq = input.wholeNumber('seq', 0, Number.MAX_SAFE_INTEGER);
  const epoch = optionalName(input, 'epoch');
  const since = seq === undefined || epoch === undefined ? undefined : { epoch, seq };
  return { ...subject, since, isLive: input.flag('live') };
}

/** Lists with ids and custom events wrap a value three times, and have to be readable too. */
const WRAPPED_LEVELS = 3;

export function checkValue(what: string, value: Uint8Array, { streamValueBytes }: StoreLimits): void {
  if (value.length > streamValueBytes) {
    throw new Refusal('PAYLOAD_TOO_LARGE', `${what} has ${value.length} bytes, over the limit of ${streamValueBytes}`);
  }
  if (skipValue(value, 0, WRAPPED_LEVELS) >= 0) return;
  throw new Refusal('BAD_REQUEST', `${what} is nested deeper than ${JSON_DEPTH_MAX - WRAPPED_LEVELS} levels`);
}

const CHANGES = ['create', 'update', 'delete'] as const;

function groupIn(input: CommandInput): GroupRef {
  return { stream: textOf(input.name('stream_name')), group: textOf(input.name('group_id')) };
}

function itemIn(input: CommandInput): ItemRef {
  return { ...groupIn(input), item: textOf(input.name('item_id')) };
}

/** An absent, null or empty name counts as not given. */
function optionalName(input: CommandInput, field: string): string | undefined {
  const json = input.json(field)?.toString('latin1') ?? 'null';
  return json === 'null' || json === '""' ? undefined : textOf(input.name(field));
}

/** A required value of any type, as it was sent. */
function dataIn(input: CommandInput, what: string, limits: StoreLimits): Buffer {
  const data = input.json('data');
  if (data === undefined) throw input.refusal("field 'data' must be given");
  checkValue(what, data, limits);
  return data;
}

function textOf(bytes: Buffer): string {
  return bytes.toString('utf8');
}
