// What the engine knows about its functions, looked up, suggested and formatted for `functions info`, `trigger --help`
// and the "Did you mean" of an unknown id.

import { editDistance, nearestWords } from '../../../core/config-fields/nearest.ts';
import type { EngineConnection } from '../../engine/connection.ts';
import { EXIT } from '../../kernel/exit-codes.ts';
import { CliFailure } from '../../kernel/failures.ts';
import { stripUnsafe } from '../../text/display-text.ts';
import { type JsonRecord, recordsIn, textIn } from '../../text/records.ts';
import { formatPairs } from '../../text/two-columns.ts';
import { type Parameter, parametersOf } from './schema-parameters.ts';

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
  return new CliFailure({
    code: 'function_not_found',
    message: `No connected worker offers the function '${functionId}' (engine at ${engine.address}).`,
    exitCode: EXIT.notFound,
    hint:
      suggestions.length > 0
        ? `Did you mean: ${suggestions.join(', ')}?`
        : 'List the functions with: svc functions list',
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
