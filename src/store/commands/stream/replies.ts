// The replies of the stream functions, and the new value of an update: the same for every store that runs them.

import { type JsonValue, parseExactJson } from '../../../core/calls/exact-json.ts';
import { Refusal } from '../../../core/calls/refusal.ts';
import { applyUpdates } from '../../../core/update-ops/index.ts';
import type { CommandContext, StoreLimits } from '../../thread/contract.ts';
import { JsonList, LIST_ENTRIES_MAX, type PageRequest } from '../../thread/json-list.ts';
import type { Updated } from '../state/replies.ts';
import { type FoundItem, jsonText, members, NULL } from './messages.ts';
import { checkValue, type ListRequest, type SetRequest, type UpdateRequest } from './requests.ts';

/** An item's data as JSON; `undefined`: there is no item. */
type Data = Buffer | undefined;
type Mode = Pick<CommandContext, 'isDropIn'>;

/** `undefined` is no result at all, which drop-in mode uses for a missing value (PD-2a). */
export function getResult({ isDropIn }: Mode, data: Data): Data {
  return isDropIn ? data : members({ value: data ?? NULL });
}

export function setResult({ data }: SetRequest, old: Data): Buffer {
  return members({ old_value: old ?? NULL, new_value: data });
}

export function deleteResult(old: Data): Buffer {
  return members({ old_value: old ?? NULL });
}

export function sendResult({ isDropIn }: Mode): Buffer {
  return isDropIn ? NULL : members({ result: NULL });
}

function parse(json: Buffer): JsonValue {
  return parseExactJson(json.toString('utf8'));
}

/** Applies operations to one value in order. An operation that fails is skipped and reported. */
export function updated({ ops }: UpdateRequest, old: Data, limits: StoreLimits): Updated {
  const { newValue, errors, hasChanged } = applyUpdates(old && parse(old), ops && parse(ops));
  const failed = errors.length > 0 ? Buffer.from(JSON.stringify(errors)) : undefined;
  if (!hasChanged || newValue === undefined) return { after: undefined, failed };
  const after = Buffer.from(JSON.stringify(newValue));
  checkValue('The new value of stream::update', after, limits);
  return { after, failed };
}

export function updateResult(old: Data, { after, failed }: Updated): Buffer {
  const before = old ?? NULL;
  return members({ old_value: before, new_value: after ?? before, ...(failed && { errors: failed }) });
}

/** `items` in the order of their ids: those of the page and one more. */
export function listResult({ isDropIn }: Mode, { withIds, page }: ListRequest, items: Iterable<FoundItem>): Buffer {
  const list = new JsonList('stream::list', page);
  for (const { id, data } of items) {
    if (withIds) list.add(Buffer.from('{"id":'), jsonText(id), Buffer.from(',"data":'), data, Buffer.from('}'));
    else list.add(data);
  }
  return isDropIn ? list.end() : members({ group: list.end() });
}

export function groupsResult({ isDropIn }: Mode, page: PageRequest, groups: Iterable<string>): Buffer {
  const list = new JsonList('stream::list_groups', page);
  for (const group of groups) list.add(jsonText(group));
  return isDropIn ? list.end() : members({ groups: list.end() });
}

export interface StreamRow {
  readonly id: string;
  readonly groups: readonly string[];
}

export function allResult(page: PageRequest, streams: Iterable<StreamRow>): Buffer {
  const list = new JsonList('stream::list_all', page);
  let count = 0;
  for (const { id, groups } of streams) {
    if (groups.length > LIST_ENTRIES_MAX) throw tooManyGroups(id);
    list.add(members({ id: jsonText(id), groups: jsonText(groups) }));
    count += 1;
  }
  return members({ stream: list.end(), count: jsonText(count) });
}

function tooManyGroups(stream: string): Refusal {
  const text = `Stream ${stream} has more than ${LIST_ENTRIES_MAX} groups. List them in pages with stream::list_groups`;
  return new Refusal('RESULT_TOO_LARGE', text);
}

export function positionResult(epoch: string, seq: number): Buffer {
  return Buffer.from(JSON.stringify({ epoch, seq }));
}
