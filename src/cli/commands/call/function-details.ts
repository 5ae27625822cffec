// What the engine knows about its functions, looked up, suggested and formatted for `functions info`,
// `trigger --help` and the "Did you mean" of an unknown id. A JSON schema becomes a list of parameters and an example
// call. Nothing is validated: parts of a schema that this file does not understand are left out.

import { editDistance, nearestWords } from '../../../core/config-fields/nearest.ts';
import type { EngineConnection } from '../../engine/connection.ts';
import { CliFailure, EXIT } from '../../kernel/failures.ts';
import { formatPairs, stripUnsafe } from '../../text/display-text.ts';
import { isRecord, type JsonRecord, recordsIn, textIn, textsIn } from '../../text/records.ts';

const SUGGESTIONS_MAX = 3;

/**
 * The failure for an id that no worker registered, with suggestions (CLI-8). Undefined when a worker does offer the
 * function: the "not found" then concerns something else.
 */
export async function unknownFunction(engine: EngineConnection, functionId: string): Promise<CliFailure | undefined> {
  const answer = await engine.call('engine::functions::list', { include_internal: functionId.startsWith('engine::') });
  const ids = recordsIn(answer, 'functions').map((record) => textIn(record, 'function_id'));
  if (ids.includes(functionId)) return undefined;
  const suggestions = rankSuggestions(functionId, ids);
  // Every other noun has a list; `svc trigger` calls a function.
  const isCommand = functionId === 'list' || functionId === 'fire';
  return new CliFailure({
    code: 'function_not_found',
    message: `No connected worker offers the function '${functionId}' (engine at ${engine.address}).`,
    exitCode: EXIT.notFound,
    hint: isCommand
      ? `Did you mean: svc triggers ${functionId}?`
      : suggestions.length > 0
        ? `Did you mean: ${suggestions.join(', ')}?`
        : 'List the functions with: svc function list',
    details: { function_id: functionId, suggestions },
  });
}

/** The id with the most similar spelling and those almost as similar, then ids that contain the last part of it. */
export function rankSuggestions(unknownId: string, ids: readonly string[]): string[] {
  const near = nearestWords(unknownId, ids);
  const distance = (id: string | undefined) => editDistance(unknownId.toLowerCase(), id?.toLowerCase() ?? '');
  // Ids of one namespace all resemble each other: only those close to the best match count.
  const nearest = near.filter((id) => distance(id) <= distance(near[0]) + DISTANCE_BEHIND_MAX);
  const lastPart = unknownId.toLowerCase().split('::').at(-1) ?? '';
  const related = lastPart.length < LAST_PART_CHARS_MIN ? [] : ids.filter((id) => id.toLowerCase().includes(lastPart));
  return [...new Set([...nearest, ...related])].slice(0, SUGGESTIONS_MAX);
}

const DISTANCE_BEHIND_MAX = 2;
/** Shorter parts occur in too many ids to be useful. */
const LAST_PART_CHARS_MIN = 3;

/** The request schema, in any field where a version of the engine puts it. */
export function requestSchemaOf(detail: JsonRecord): unknown {
  return detail.request_schema ?? detail.request_format;
}

export function responseSchemaOf(detail: JsonRecord): unknown {
  return detail.response_schema ?? detail.response_format;
}

/** `Parameters` and one line each, or a note that the function registered no schema. */
export function parameterLines(schema: unknown): string[] {
  const parameters = parametersOf(schema);
  if (parameters.length === 0) return ['Parameters: the function registered no schema.'];
  return ['Parameters', ...formatPairs(parameters.map(parameterPair))];
}

function parameterPair({ name, type, isRequired, text }: Parameter): [string, string] {
  return [stripUnsafe(name), stripUnsafe(`${type}${isRequired ? ', required' : ''}${text === '' ? '' : `. ${text}`}`)];
}

export interface Parameter {
  /** As written in a key=value pair: `address.city`, `tags[]`. */
  readonly name: string;
  readonly type: string;
  readonly isRequired: boolean;
  /** Description, default, allowed values. */
  readonly text: string;
}

const NESTING_MAX = 3;

export function parametersOf(schema: unknown): Parameter[] {
  return parametersBelow(schema, '', true, 0);
}

/** The pairs of a call with every required parameter: `sku=… qty:=0`. */
export function examplePairs(parameters: readonly Parameter[]): string[] {
  return parameters.filter((parameter) => parameter.isRequired).map(examplePair);
}

function parametersBelow(schema: unknown, prefix: string, aboveRequired: boolean, depth: number): Parameter[] {
  if (!isRecord(schema) || !isRecord(schema.properties)) return [];
  const required = textsIn(schema, 'required');
  return Object.entries(schema.properties).flatMap(([key, property]) => {
    if (!isRecord(property)) return [];
    const isRequired = aboveRequired && required.includes(key);
    const inner = depth + 1 < NESTING_MAX ? parametersBelow(property, `${prefix}${key}.`, isRequired, depth + 1) : [];
    return inner.length > 0 ? inner : [describe(`${prefix}${key}`, property, isRequired)];
  });
}

function describe(name: string, property: JsonRecord, isRequired: boolean): Parameter {
  const type = typeWord(property);
  const values = Array.isArray(property.enum) ? `One of ${property.enum.map(jsonText).join(', ')}.` : '';
  const fallback = property.default === undefined ? '' : `Default ${jsonText(property.default)}.`;
  const text = [textIn(property, 'description'), values, fallback].filter((part) => part !== '').join(' ');
  return { name: type === 'list of string' ? `${name}[]` : name, type, isRequired, text };
}

function typeWord(property: JsonRecord): string {
  const type = Array.isArray(property.type) ? textsIn(property, 'type').join(' or ') : textIn(property, 'type');
  if (type !== 'array') return type === '' ? 'any' : type;
  const item = isRecord(property.items) ? textIn(property.items, 'type') : '';
  return item === '' ? 'list' : `list of ${item}`;
}

function examplePair({ name, type }: Parameter): string {
  if (type === 'string' || type === 'list of string') return `${name}=text`;
  if (type === 'number' || type === 'integer') return `${name}:=1`;
  if (type === 'boolean') return `${name}:=true`;
  return type.startsWith('list') ? `${name}:=[]` : `${name}:={}`;
}

function jsonText(value: unknown): string {
  return JSON.stringify(value) ?? 'undefined';
}
