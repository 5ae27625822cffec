// Entries of the state store. Values pass through as text: the page shows the stored digits.

import type { ConflictDetails } from '../../../console/api/envelope.ts';
import type { StateItem } from '../../../console/api/states.ts';
import { parseExactJson } from '../../../core/calls/exact-json.ts';
import { applyUpdates } from '../../../core/update-ops/index.ts';
import {
  validateNoQuery,
  validateScopesQuery,
  validateStateItemsQuery,
  validateStatePut,
  validateStateUpdate,
  validateVersionQuery,
} from '../../../generated/console-requests.ts';
import { byteStringToText, RAW_NULL, type RawJson, rawJson } from '../../../protocol/json/byte-string.ts';
import { typeOf } from '../../../store/commands/state/previews.ts';
import { CommandInput } from '../../../store/thread/command-input.ts';
import type { ConsoleContext } from '../console-context.ts';
import { answerIn, rawOfBytes } from '../sources/built-ins.ts';
import { ApiFailure, failure, notFound } from '../sources/failure.ts';
import { objectText, RawAnswer } from '../sources/json-text.ts';
import { cut, limitOf, matches } from './page.ts';
import { type Route, reading, sending } from './route.ts';

const PREVIEW_BYTES = 256;
/** Scopes that one page of a search examines. */
const SCOPES_MAX = 10_000;

export function stateRoutes(context: ConsoleContext): readonly Route[] {
  const { builtIns } = context;
  return [
    reading('GET /states/scopes', validateScopesQuery, async ({ query }) => {
      const limit = limitOf(query.limit);
      const asked = {
        limit: query.q === undefined ? limit + 1 : SCOPES_MAX,
        ...(query.cursor !== undefined && { after: query.cursor }),
      };
      const { groups } = await builtIns.ask('state::list_groups', asked);
      const found = groups.filter((scope) => matches(query.q, scope));
      const rows = found.map((scope) => ({ scope, count: null, internal: scope.startsWith('__console.') }));
      return cut(rows, limit, ({ scope }) => scope);
    }),
    reading('GET /states/{scope}/items', validateStateItemsQuery, async ({ name, query }) => {
      const asked = {
        scope: name(0),
        preview_bytes: PREVIEW_BYTES,
        limit: limitOf(query.limit),
        ...(query.cursor !== undefined && { after: query.cursor }),
        ...(query.prefix !== undefined && query.prefix !== '' && { prefix: query.prefix }),
        ...(query.q !== undefined && query.q !== '' && { contains: query.q }),
      };
      const { entries, next } = await builtIns.ask('state::list', asked);
      return { items: entries, next_cursor: next, total: null };
    }),
    reading('GET /states/{scope}/items/{key}', validateNoQuery, async ({ name }) => {
      const item = await readItem(context, name(0), name(1));
      if (item === undefined) throw notFound('State entry', `${name(0)} ${name(1)}`);
      return new RawAnswer(item);
    }),
    sending('PUT /states/{scope}/items/{key}', validateStatePut, async ({ name, body, raw }) => {
      const [scope, key] = [name(0), name(1)];
      const value = raw('value');
      if (value === undefined) throw failure('BAD_REQUEST', "The body: field 'value' must be given");
      const { if_version, if_absent } = body;
      const asked = objectText(
        { scope, key, ...(if_version !== undefined && { if_version }), ...(if_absent !== undefined && { if_absent }) },
        { value },
      );
      await builtIns.ofText('state::set', asked).catch((error: unknown) => conflict(context, scope, key, error));
      return new RawAnswer((await readItem(context, scope, key)) ?? RAW_NULL);
    }),
    reading('DELETE /states/{scope}/items/{key}', validateVersionQuery, async ({ name, query }) => {
      const [scope, key] = [name(0), name(1)];
      const asked = { scope, key, ...(query.if_version !== undefined && { if_version: query.if_version }) };
      const wasThere = (await readItem(context, scope, key)) !== undefined;
      await builtIns.value('state::delete', asked).catch((error: unknown) => conflict(context, scope, key, error));
      return { removed: wasThere };
    }),
    sending('POST /states/{scope}/items/{key}/update', validateStateUpdate, async ({ name, body, raw }) => {
      const [scope, key] = [name(0), name(1)];
      const ops = raw('ops') ?? RAW_NULL;
      if (body.dry_run === true) return await tryUpdate(context, scope, key, ops);
      const text = await builtIns.ofText('state::update', objectText({ scope, key }, { ops }));
      return updated(text, await versionOfItem(context, scope, key));
    }),
  ];
}

/** The item as text, `undefined` when there is none. */
async function readItem({ builtIns }: ConsoleContext, scope: string, key: string): Promise<RawJson | undefined> {
  const { value, version } = await readEntry({ builtIns }, scope, key);
  if (version === null) return undefined;
  const bytes = Buffer.from(value, 'latin1');
  const facts: Omit<StateItem, 'value'> = {
    scope,
    key,
    type: typeOf(bytes),
    size: bytes.length,
    version,
  };
  return objectText({ ...facts }, { value });
}

async function readEntry({ builtIns }: Pick<ConsoleContext, 'builtIns'>, scope: string, key: string) {
  const text = await builtIns.text('state::get', { scope, key, include_version: true });
  const input = new CommandInput('state::get', Buffer.from(text, 'latin1'));
  const version: unknown = JSON.parse(input.json('version')?.toString('utf8') ?? 'null');
  const value = input.json('value');
  return {
    value: value === undefined ? RAW_NULL : rawOfBytes(value),
    version: typeof version === 'string' ? version : null,
  };
}

async function versionOfItem(context: ConsoleContext, scope: string, key: string): Promise<string | null> {
  return (await readEntry(context, scope, key)).version;
}

/** The refusal includes the current entry, so that the page can show all three versions. */
async function conflict(context: ConsoleContext, scope: string, key: string, error: unknown): Promise<never> {
  if (!(error instanceof ApiFailure) || error.error.code !== 'CONFLICT') throw error;
  const item = await readItem(context, scope, key);
  const details: ConflictDetails<unknown> = {
    current: item === undefined ? null : parseExactJson(byteStringToText(item)),
  };
  throw failure('CONFLICT', error.error.message, details);
}

function updated(text: RawJson, version: string | null): RawAnswer {
  const { errors = [] } = answerIn('state::update', text);
  const input = new CommandInput('state::update', Buffer.from(text, 'latin1'));
  const part = (member: string): RawJson => {
    const bytes = input.json(member);
    return bytes === undefined ? RAW_NULL : rawOfBytes(bytes);
  };
  return new RawAnswer(objectText({ errors, version }, { old_value: part('old_value'), new_value: part('new_value') }));
}

/** Computes the result of an update without writing it. */
async function tryUpdate(context: ConsoleContext, scope: string, key: string, ops: RawJson): Promise<RawAnswer> {
  const { value, version } = await readEntry(context, scope, key);
  const before = version === null ? undefined : parseExactJson(byteStringToText(value));
  const { newValue, errors, hasChanged } = applyUpdates(before, parseExactJson(byteStringToText(ops)));
  const after = hasChanged ? rawJson(newValue ?? null) : value;
  return new RawAnswer(objectText({ errors, version }, { old_value: value, new_value: after }));
}
