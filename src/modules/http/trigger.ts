// The trigger type `http` (modules 5.2): the config of a binding, and the route it becomes.

import { API_PREFIX } from '../../console/api/envelope.ts';
import { fields, listOf, text, type ValueOf } from '../../core/config-fields/fields.ts';
import { parseRoutePattern, type RoutePattern } from '../../core/routing/route-pattern.ts';
import { type RouteText, routeText } from '../../protocol/http/request-text.ts';
import { rawJson } from '../../protocol/json/byte-string.ts';
import type { Binding } from '../../router/builtin.ts';
import { CONDITION_FIELD, readTriggerConfig } from '../trigger-config.ts';
import { isBelowApi, isConsolePath } from './console-paths.ts';

/** A binding in the form that requests need. */
export interface HttpBinding {
  /** Absent for the function that answers requests without a route. */
  readonly binding: Binding | undefined;
  readonly functionId: string;
  /** Method and pattern, the name in traces. */
  readonly operation: string;
  readonly middleware: readonly string[];
  /** What is the same in the object of every request. */
  readonly route: RouteText;
}

const triggerConfig = fields({
  api_path: text({ help: 'Path of the route; :name stands for one segment' }),
  http_method: text({ default: 'GET', help: 'GET, POST, PUT, DELETE, PATCH, HEAD or OPTIONS' }),
  condition_function_id: CONDITION_FIELD,
  middleware_function_ids: listOf(text({ bytesMax: 256 }), { default: [], help: 'Called in this order' }),
});

const METHODS = ['GET', 'POST', 'PUT', 'DELETE', 'PATCH', 'HEAD', 'OPTIONS'];
const MIDDLEWARE_MAX = 16;

export type HttpTrigger =
  | {
      readonly ok: true;
      readonly method: string;
      readonly pattern: RoutePattern;
      readonly config: ValueOf<typeof triggerConfig>;
    }
  | { readonly ok: false; readonly reason: string };

export interface TriggerRules {
  readonly ignoresTrailingSlash: boolean;
  /** Whether routes below `/_console/` are accepted (T10). */
  readonly acceptsConsoleRoutes: boolean;
}

export function readHttpTrigger(given: unknown, rules: TriggerRules): HttpTrigger {
  if (typeof given !== 'object' || given === null || !Object.hasOwn(given, 'api_path')) {
    return { ok: false, reason: 'api_path is required for http triggers' };
  }
  const read = readTriggerConfig('http', triggerConfig, given);
  if (!read.ok) return read;
  const { config } = read;
  const method = config.http_method.toUpperCase();
  if (!METHODS.includes(method)) {
    const found = config.http_method.slice(0, 32);
    return { ok: false, reason: `http_method must be one of ${METHODS.join(', ')}, found '${found}'` };
  }
  if (config.middleware_function_ids.length > MIDDLEWARE_MAX) {
    return { ok: false, reason: `the limit of middleware_function_ids is ${MIDDLEWARE_MAX} functions` };
  }
  const path = rules.ignoresTrailingSlash ? withoutTrailingSlash(config.api_path) : config.api_path;
  const parsed = parseRoutePattern(path);
  if (!parsed.ok) return { ok: false, reason: `api_path '${config.api_path.slice(0, 128)}' ${parsed.reason}` };
  const { pattern } = parsed;
  if (isConsolePath(pattern.text) && (!rules.acceptsConsoleRoutes || isBelowApi(pattern.text))) {
    const owned = rules.acceptsConsoleRoutes ? API_PREFIX : '/_console';
    return { ok: false, reason: `api_path '${pattern.text}' is reserved: ${owned}/ belongs to the engine` };
  }
  return { ok: true, method, pattern, config };
}

export function bindingOf(binding: Binding, trigger: HttpTrigger & { ok: true }): HttpBinding {
  return {
    binding,
    functionId: binding.functionId,
    operation: `${trigger.method} ${trigger.pattern.text}`,
    middleware: trigger.config.middleware_function_ids,
    route: routeText(trigger.method, trigger.pattern.text, trigger.pattern.parameters),
  };
}

export function withoutTrailingSlash(path: string): string {
  return path.length > 1 && path.endsWith('/') ? path.slice(0, -1) : path;
}

export const HTTP_TRIGGER_SPEC = {
  description: 'Calls a function for requests of a method and a path',
  configFormat: rawJson({
    type: 'object',
    properties: {
      api_path: { type: 'string', description: 'Such as /users/:id' },
      http_method: { enum: METHODS, default: 'GET' },
      condition_function_id: { type: 'string' },
      middleware_function_ids: { type: 'array', items: { type: 'string' } },
    },
    required: ['api_path'],
    additionalProperties: false,
  }),
  payloadFormat: rawJson({
    type: 'object',
    properties: {
      method: { type: 'string' },
      path: { type: 'string', description: 'The pattern of the route' },
      url: { type: 'string', description: 'Path and query as requested' },
      path_params: { type: 'object', additionalProperties: { type: 'string' } },
      query_params: { type: 'object' },
      headers: { type: 'object', additionalProperties: { type: 'string' } },
      client_address: { type: 'string' },
      body: {},
      trigger: { type: 'object' },
      request_body: { type: 'object', description: 'Reading end of a channel with the raw body' },
      response: { type: 'object', description: 'Writing end of a channel for a streamed answer' },
      context: { type: 'object', description: 'The context that middleware returned' },
    },
  }),
};
