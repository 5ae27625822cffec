// What requests and answers look like, as JSON Schema. The engine refuses what does not fit with status 400, and
// describes the routes by them: curl http://127.0.0.1:3111/_console/v1/openapi.json

export interface NewOrder {
  readonly sku: string;
  readonly quantity?: number;
}

export interface Order extends Required<NewOrder> {
  readonly id: string;
}

const ID = { type: 'string', pattern: '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$' };
const NEW_ORDER = {
  type: 'object',
  properties: { sku: { type: 'string', minLength: 1, maxLength: 64 }, quantity: { type: 'integer', minimum: 1 } },
  required: ['sku'],
};
const ORDER = {
  type: 'object',
  properties: { id: ID, ...NEW_ORDER.properties },
  required: ['id', 'sku', 'quantity'],
};
/** The same shape as the errors that the engine answers. */
const ERROR = {
  type: 'object',
  properties: {
    error: {
      type: 'object',
      properties: { code: { type: 'string' }, message: { type: 'string' } },
      required: ['code', 'message'],
    },
  },
  required: ['error'],
};

/** A request with a body, or with an id in its path. */
const requestWith = (properties: object) => ({ type: 'object', properties, required: Object.keys(properties) });
const reply = (status: number, body: object) => ({
  type: 'object',
  properties: { status_code: { const: status }, body },
  required: ['status_code', 'body'],
});
const BY_ID = requestWith({ path_params: { type: 'object', properties: { id: ID }, required: ['id'] } });

export const CREATE = { input: requestWith({ body: NEW_ORDER }), output: reply(201, ORDER) };
export const LIST = { output: reply(200, { type: 'array', items: ORDER }) };
export const SHOW = { input: BY_ID, output: { oneOf: [reply(200, ORDER), reply(404, ERROR)] } };
export const DELETE = { input: BY_ID, output: { oneOf: [reply(204, { type: 'null' }), reply(404, ERROR)] } };
