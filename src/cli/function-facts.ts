// What the engine says of its functions: looked up, suggested and put into words for `functions info`,
// `trigger --help` and the "did you mean" of an unknown id.

import { editDistance, nearestWords } from '../core/nearest.ts';
import type { EngineConnection } from './connection.ts';
import { stripUnsafe } from './display-text.ts';
import { EXIT } from './exit-codes.ts';
import { CliFailure } from './failures.ts';
import { type JsonRecord, recordsIn, textIn } from './records.ts';
import { type Parameter, parametersOf } from './schema-parameters.ts';
import { formatPairs } from './two-columns.ts';

const SUGGESTIONS_MAX = 3;

/**
 * The failure for an id that nobody registered, with what may have been meant (CLI-8); undefined when somebody
 * does offer it, so that the "not found" must be about something else.
 */
export async function unknownFunction(engine: EngineConnection, functionId: string): Promise<CliFailure | undefined> {
  const answer = await engine.call('engine::functions::list', { include_internal: functionId.startsWith('engine::') });
  const ids = recordsIn(answer, 'functions').map((record) => textIn(record, 'function_id'));
  if (ids.includes(functionId)) return undefined;
  const suggestions = rankSuggestions(functionId, ids);
  return new CliFailure({
    code: 'function_not_found',
    message: `No connected worker offers the function '${functionId}' (engine at ${engine.address}).`,
    exitCode: EXIT.notFound,
    hint:
      suggestions.length > 0
        ? `Did you mean: ${suggestions.join(', ')}?`
        : 'List what can be called with: svc functions list',
    details: { function_id: functionId, suggestions },
  });
}

/** The id nearest in spelling with those almost as near, then ids that hold the last part of the unknown one. */
export function rankSuggestions(unknownId: string, ids: readonly string[]): string[] {
  const near = nearestWords(unknownId, ids);
  const distance = (id: string | undefined) => editDistance(unknownId.toLowerCase(), id?.toLowerCase() ?? '');
  // Ids of one namespace all resemble each other; what matters is how much worse they are than the best.
  const nearest = near.filter((id) => distance(id) <= distance(near[0]) + DISTANCE_BEHIND_MAX);
  const lastPart = unknownId.toLowerCase().split('::').at(-1) ?? '';
  const related = lastPart.length < LAST_PART_CHARS_MIN ? [] : ids.filter((id) => id.toLowerCase().includes(lastPart));
  return [...new Set([...nearest, ...related])].slice(0, SUGGESTIONS_MAX);
}

const DISTANCE_BEHIND_MAX = 2;
/** Shorter parts are contained in too many ids to mean anything. */
const LAST_PART_CHARS_MIN = 3;

/** The request schema, wherever this version of the engine puts it. */
export function requestSchemaOf(detail: JsonRecord): unknown {
  return detail.request_schema ?? detail.request_format;
}

export function responseSchemaOf(detail: JsonRecord): unknown {
  return detail.response_schema ?? detail.response_format;
}

/** `Parameters` and a line for each; says so when the function registered no schema. */
export function parameterLines(schema: unknown): string[] {
  const parameters = parametersOf(schema);
  if (parameters.length === 0) return ['Parameters: the function registered no schema.'];
  return ['Parameters', ...formatPairs(parameters.map(parameterPair))];
}

function parameterPair({ name, type, isRequired, text }: Parameter): [string, string] {
  return [stripUnsafe(name), stripUnsafe(`${type}${isRequired ? ', required' : ''}${text === '' ? '' : `. ${text}`}`)];
}
