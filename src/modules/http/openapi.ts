// The routes as an OpenAPI 3.1 document. A function's payload and result are described by what it registered: a schema
// of the request object (modules 5.3) and of the response, from which parameters, body and answers by status are taken.
// What is not known stays open: a handler may answer with any status, and nothing says that its errors look like those
// of the engine.

import type { Route } from '../../core/routing/route-table.ts';
import type { RouterPort } from '../../router/port.ts';
import type { HttpBinding } from './trigger.ts';

type Json = Readonly<Record<string, unknown>>;

/** The methods of the format, in the order in which it lists them. */
const METHODS = ['get', 'put', 'post', 'delete', 'options', 'head', 'patch'];

export function openApiDocument(router: RouterPort, version: string, routes: Iterable<Route<HttpBinding>>): Json {
  const paths = new Map<string, Map<string, Json>>();
  for (const { method, pattern, owners } of routes) {
    const owner = owners.at(-1);
    if (owner === undefined) continue;
    const path = `/${pattern.segments.map(({ text, isParameter }) => (isParameter ? `{${text}}` : text)).join('/')}`;
    const operations = paths.get(path) ?? new Map<string, Json>();
    paths.set(path, operations);
    operations.set(method.toLowerCase(), operationOf(router, owner, method, path));
  }
  return {
    openapi: '3.1.0',
    info: { title: 'svc', version },
    paths: Object.fromEntries(
      [...paths]
        .sort(([a], [b]) => (a < b ? -1 : 1))
        .map(([path, operations]) => [
          path,
          Object.fromEntries(METHODS.flatMap((name) => (operations.has(name) ? [[name, operations.get(name)]] : []))),
        ]),
    ),
    components: { schemas: { Error: ERROR_SCHEMA } },
  };
}

function operationOf(
  router: RouterPort,
  { functionId, route: { parameters } }: HttpBinding,
  method: string,
  path: string,
): Json {
  const entry = router.functionEntry(functionId);
  const row = entry && router.functionRow(entry);
  const request = schemaOf(row?.request_format);
  const response = schemaOf(row?.response_format);
  const body = propertyOf(request, 'body');
  return {
    operationId: `${method} ${path}`,
    ...(row?.description && { summary: row.description }),
    tags: [functionId.split('::')[0]],
    'x-function-id': functionId,
    ...parametersOf(parameters, request),
    ...(body !== undefined &&
      hasBody(method) && { requestBody: { required: isRequired(request, 'body'), ...jsonContent(body) } }),
    responses: responsesOf(response, request !== undefined),
  };
}

/** `hasInput`: the engine refuses other requests with 400. */
function responsesOf(response: Json | undefined, hasInput: boolean): Json {
  const bodies = new Map<string, unknown[]>();
  for (const reply of repliesOf(response)) {
    for (const status of statusesOf(reply)) {
      const body: unknown = propertiesOf(reply).body;
      bodies.set(status, [...(bodies.get(status) ?? []), ...(body === undefined ? [] : [body])]);
    }
  }
  if (hasInput) bodies.set(BAD_REQUEST, [...(bodies.get(BAD_REQUEST) ?? []), ERROR_REFERENCE]);
  const known = [...bodies].sort().map(([status, schemas]) => {
    const own = bodies.has(status) && status !== BAD_REQUEST ? 'An answer of the handler' : REFUSED;
    return [status, { description: own, ...(schemas.length > 0 && jsonContent(anyOf(schemas))) }];
  });
  return { ...Object.fromEntries(known), default: { description: OTHERWISE } };
}

const BAD_REQUEST = '400';
const REFUSED = 'The request does not fit, or the handler refuses it';
const OTHERWISE = 'Any other answer of the handler; or an error of the engine, as in components/schemas/Error';

/** The alternatives of an answer. */
function repliesOf(response: Json | undefined): Json[] {
  if (response === undefined) return [];
  const alternatives: unknown = response.oneOf ?? response.anyOf;
  if (!Array.isArray(alternatives)) return [response];
  return alternatives.map(schemaOf).filter((one) => one !== undefined);
}

/** Without a `status_code` of its own it is a 200. */
function statusesOf(reply: Json): string[] {
  const status = propertyOf(reply, 'status_code');
  if (status === undefined) return ['200'];
  const values = Array.isArray(status.enum) ? status.enum : [status.const];
  return values.filter((value) => Number.isInteger(value) && value >= 100 && value <= 599).map(String);
}

function anyOf(schemas: readonly unknown[]): Json {
  return schemas.length === 1 ? (schemaOf(schemas[0]) ?? {}) : { anyOf: schemas };
}

function isRequired(schema: Json | undefined, name: string): boolean {
  return Array.isArray(schema?.required) && schema.required.includes(name);
}

function parametersOf(names: readonly string[], request: Json | undefined): Json {
  const inPath = propertiesOf(propertyOf(request, 'path_params'));
  const inQuery = propertyOf(request, 'query_params');
  const required: unknown = inQuery?.required;
  const list = [
    ...names.map((name) => ({
      name,
      in: 'path',
      required: true,
      schema: schemaOf(inPath[name]) ?? { type: 'string' },
    })),
    ...Object.entries(propertiesOf(inQuery)).map(([name, schema]) => ({
      name,
      in: 'query',
      required: Array.isArray(required) && required.includes(name),
      schema: schemaOf(schema) ?? {},
    })),
  ];
  return list.length === 0 ? {} : { parameters: list };
}

function jsonContent(schema: Json): Json {
  return { content: { 'application/json': { schema } } };
}

function hasBody(method: string): boolean {
  return method !== 'GET' && method !== 'HEAD';
}

function propertyOf(schema: Json | undefined, name: string): Json | undefined {
  return schemaOf(propertiesOf(schema)[name]);
}

function propertiesOf(schema: Json | undefined): Json {
  return schemaOf(schema?.properties) ?? {};
}

function schemaOf(value: unknown): Json | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : undefined;
}

const ERROR_REFERENCE = { $ref: '#/components/schemas/Error' };

const ERROR_SCHEMA = {
  type: 'object',
  properties: {
    error: {
      type: 'object',
      properties: { code: { type: 'string' }, message: { type: 'string' }, error_id: { type: 'string' } },
      required: ['code', 'message'],
    },
  },
  required: ['error'],
};
