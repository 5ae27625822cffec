// JSON schemas of the engine's own functions, as lists show them. They are put together when a list asks first: most
// engines are never asked.

import { ANSWERS, REQUESTS } from '../../generated/function-formats.ts';

type Schema = Readonly<Record<string, unknown>>;

interface OwnFormats {
  readonly request_format?: unknown;
  readonly response_format?: unknown;
}

const known = new Map<string, OwnFormats>();

/** Empty for functions that their module describes itself. */
export function ownFormats(functionId: string): OwnFormats {
  const before = known.get(functionId);
  if (before !== undefined) return before;
  const request = formatOf(REQUESTS.components.schemas ?? {}, 'FunctionRequests', functionId);
  const answer = formatOf(ANSWERS.components.schemas ?? {}, 'FunctionAnswers', functionId);
  const formats: OwnFormats = {
    ...(request !== undefined && { request_format: request }),
    ...(answer !== undefined && { response_format: answer }),
  };
  known.set(functionId, formats);
  return formats;
}

const REFERENCE = /#\/components\/schemas\/([^"]+)/g;

/** The schema of one function, with what it refers to below `$defs`; undefined if the table does not have it. */
function formatOf(schemas: Readonly<Record<string, object>>, table: string, functionId: string): unknown {
  const found = membersOf(membersOf(schemas[table]).properties)[functionId];
  if (found === undefined) return undefined;
  const named = membersOf(found).$ref;
  const outer = typeof named === 'string' ? schemas[nameOf(named)] : found;
  const definitions = referredBy(outer, schemas);
  const whole = definitions.size === 0 ? outer : { ...membersOf(outer), $defs: Object.fromEntries(definitions) };
  return JSON.parse(JSON.stringify(whole).replaceAll(REFERENCE, '#/$defs/$1'));
}

/** The schemas that this one refers to, directly or not. */
function referredBy(schema: unknown, schemas: Readonly<Record<string, object>>): Map<string, object> {
  const found = new Map<string, object>();
  const unread: unknown[] = [schema];
  for (let next = unread.pop(); next !== undefined; next = unread.pop()) {
    for (const [reference] of JSON.stringify(next).matchAll(REFERENCE)) {
      const name = nameOf(reference);
      const referred = schemas[name];
      if (referred === undefined || found.has(name)) continue;
      found.set(name, referred);
      unread.push(referred);
    }
  }
  return found;
}

function nameOf(reference: string): string {
  return reference.slice('#/components/schemas/'.length);
}

function membersOf(value: unknown): Schema {
  return typeof value === 'object' && value !== null ? { ...value } : {};
}
