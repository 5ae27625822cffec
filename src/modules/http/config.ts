import {
  fields,
  flag,
  integer,
  listOf,
  oneOf,
  optional,
  refused,
  text,
  type ValueOf,
} from '../../core/config-fields/fields.ts';
import type { FieldProblem } from '../../core/config-fields/fields-check.ts';
import type { ModuleDeclaration } from '../../core/config-fields/module-declaration.ts';
import { redactUrl } from '../../core/config-fields/redaction.ts';
import { TLS_FIELD } from '../tls-settings.ts';

const MIB = 1024 * 1024;

const middleware = fields({
  function_id: text({ bytesMax: 256, help: 'The function to call before the handler' }),
  phase: oneOf(['preHandler'], { default: 'preHandler', help: 'When it is called; this is the only value' }),
  priority: integer({ default: 0, help: 'Lower ones are called first' }),
});

const cors = fields({
  allowed_origins: listOf(text(), { default: [], help: "Origins whose pages may call; empty or '*': any" }),
  allowed_methods: listOf(text(), { default: [], help: 'Methods that they may use; empty: any' }),
  allow_credentials: flag({ default: false, help: 'Whether their calls may carry cookies; requires named origins' }),
});

const httpConfig = fields({
  port: integer({ min: 0, max: 65_535, default: 3111, help: 'Port for HTTP; 0 takes any free one' }),
  host: text({ default: '127.0.0.1', help: 'Address to listen on' }),
  tls: TLS_FIELD,
  default_timeout: integer({
    min: 1,
    max: 3_600_000,
    default: 30_000,
    help: 'Milliseconds from a request to the head of its answer; then 504',
  }),
  concurrency_request_limit: integer({
    min: 0,
    max: 1_000_000,
    default: 1_024,
    help: 'Requests handled at a time; as many again wait up to 5 s, then get 503. 0 counts as 1',
  }),
  body_limit: integer({
    min: 0,
    max: 1024 * MIB,
    default: 4 * MIB,
    help: 'Largest body of a request in bytes; a larger one gets 413',
  }),
  cors: optional(cors, 'Allows pages of other origins to call; without it they are refused'),
  middleware: listOf(middleware, { default: [], help: 'Functions that are called before every handler' }),
  request_id_header: text({
    default: 'x-request-id',
    bytesMax: 64,
    help: 'Header with the id of a request: read or generated, and sent back',
  }),
  ignore_trailing_slash: flag({ default: false, help: 'Whether /a and /a/ are the same path' }),
  not_found_function: optional(text({ bytesMax: 256, help: 'Function that answers requests without a route' })),
  trust_proxy: refused('Name the proxies in the top-level trusted_proxies instead: addresses or CIDR blocks.'),
});

export type HttpConfig = ValueOf<typeof httpConfig>;
export type CorsConfig = NonNullable<HttpConfig['cors']>;

export const httpDeclaration = {
  name: 'svc-http',
  aliases: ['http'],
  classes: ['modules::api::RestApiModule'],
  repeatable: false,
  alwaysLoaded: false,
  config: httpConfig,
  adapters: [],
  contradictions: findContradictions,
} satisfies ModuleDeclaration<HttpConfig>;

function findContradictions({ cors: rules, request_id_header: name }: HttpConfig): FieldProblem[] {
  const problems: FieldProblem[] = [];
  if (!/^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/.test(name)) {
    problems.push({
      path: ['request_id_header'],
      at: 'value',
      message: `Must be the name of a header, found '${name}'.`,
    });
  }
  if (rules === undefined) return problems;
  const isAny = rules.allowed_origins.length === 0 || rules.allowed_origins.includes('*');
  if (isAny && rules.allow_credentials) {
    const message =
      'Needs named allowed_origins: with any origin, every page could act with the cookies of its reader.';
    problems.push({ path: ['cors', 'allow_credentials'], at: 'value', message });
  }
  for (const [index, origin] of rules.allowed_origins.entries()) {
    if (origin === '*' || isOrigin(origin)) continue;
    const message = `Must be a complete origin such as https://app.example:8443, found '${redactUrl(origin)}'.`;
    problems.push({ path: ['cors', 'allowed_origins', index], at: 'value', message });
  }
  for (const [index, method] of rules.allowed_methods.entries()) {
    if (/^[A-Za-z]+$/.test(method)) continue;
    problems.push({
      path: ['cors', 'allowed_methods', index],
      at: 'value',
      message: `Must be a method, found '${method}'.`,
    });
  }
  return problems;
}

function isOrigin(text: string): boolean {
  return URL.canParse(text) && new URL(text).origin === text.toLowerCase();
}
