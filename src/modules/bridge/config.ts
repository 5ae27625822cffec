// The other engine, and which functions each of the two offers to the other (modules 14).

import { readPattern } from '../../core/access/pattern.ts';
import {
  fields,
  integer,
  listOf,
  optional,
  secretText,
  text,
  url,
  type ValueOf,
} from '../../core/config-fields/fields.ts';
import type { FieldProblem } from '../../core/config-fields/fields-check.ts';
import type { ModuleDeclaration } from '../../core/config-fields/module-declaration.ts';
import { ID_BYTES_MAX } from '../../protocol/frames/limits.ts';

const functionId = { bytesMax: ID_BYTES_MAX };

const expose = fields({
  local_function: text({ ...functionId, help: 'A function of this engine' }),
  remote_function: optional(text({ ...functionId, help: 'Its id on the other engine; the same if omitted' })),
});

const forward = fields({
  local_function: text({ ...functionId, help: 'The id on this engine' }),
  remote_function: text({ ...functionId, help: 'A function of the other engine' }),
  timeout_ms: integer({ min: 1, max: 3_600_000, default: 30_000, help: 'How long a call may take' }),
});

const bridgeConfig = fields({
  url: url({ help: 'Worker port of the other engine: ws://host:49134' }),
  token: optional(secretText({ bytesMin: 1, help: 'bridge_token of the other engine' })),
  service_id: optional(text({ help: 'Accepted and not used: the other engine gives the connection an id' })),
  service_name: text({ default: 'svc-bridge', bytesMax: 256, help: 'Name in the list of workers of the other engine' }),
  expose: listOf(expose, { default: [], help: 'Functions of this engine that the other one may call' }),
  forward: listOf(forward, { default: [], help: 'Functions of this engine that call one of the other engine' }),
  mirror: listOf(text({ bytesMax: ID_BYTES_MAX }), {
    default: [],
    help: 'Patterns: matching functions of the other engine can be called here under their own ids',
  }),
});

export type BridgeConfig = ValueOf<typeof bridgeConfig>;

export const bridgeDeclaration = {
  name: 'svc-bridge',
  aliases: ['bridge'],
  classes: ['modules::bridge_client::BridgeClientModule'],
  repeatable: false,
  alwaysLoaded: false,
  config: bridgeConfig,
  adapters: [],
  contradictions: findContradictions,
} satisfies ModuleDeclaration<BridgeConfig>;

function findContradictions({ expose: exposed, forward: forwarded, mirror }: BridgeConfig): FieldProblem[] {
  const problems: FieldProblem[] = [];
  const own = new Set<string>();
  for (const [index, { local_function: id }] of forwarded.entries()) {
    const path = ['forward', index, 'local_function'];
    if (own.has(id)) problems.push({ path, at: 'value', message: `'${id}' is forwarded already.` });
    own.add(id);
  }
  for (const [index, { local_function: id }] of exposed.entries()) {
    if (!own.has(id)) continue;
    const message = `'${id}' is forwarded to the other engine: it would call itself without end.`;
    problems.push({ path: ['expose', index, 'local_function'], at: 'value', message });
  }
  for (const [index, pattern] of mirror.entries()) {
    const read = readPattern(pattern);
    if (!read.ok) problems.push({ path: ['mirror', index], at: 'value', message: `The pattern ${read.reason}.` });
  }
  return problems;
}
