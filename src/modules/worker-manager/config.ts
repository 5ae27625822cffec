// One entry is one port that workers connect to.

import { fields, integer, listOf, refused, text, type ValueOf } from '../../core/fields.ts';
import type { ModuleDeclaration } from '../../core/module-declaration.ts';
import { BRIDGE_PORT_DEFAULT } from '../../protocol/limits.ts';

const workerManagerConfig = fields({
  port: integer({ min: 0, max: 65_535, default: BRIDGE_PORT_DEFAULT, help: 'Port for workers; 0 takes any free one' }),
  host: text({
    default: '127.0.0.1',
    help: 'Address to listen on; anything but loopback needs bridge_token',
  }),
  allowed_origins: listOf(text(), {
    default: ['http://127.0.0.1:3113', 'http://localhost:3113'],
    help: 'Web origins that may open a connection; the default is the console',
  }),
  handshake_timeout_ms: refused('The socket library keeps this limit itself: about 10 s, on ws 5 s. Remove it.'),
  rbac: refused(
    'This version has no restricted ports for browsers yet. Remove the entry: without rbac it would be open to all.',
  ),
  middleware_function_id: refused("This version does not have 'middleware_function_id' yet. Remove it."),
  namespaces: refused("This version does not have 'namespaces' yet. Remove it."),
});

export const workerManagerDeclaration = {
  name: 'svc-worker-manager',
  aliases: ['worker-manager'],
  classes: ['modules::worker::WorkerModule'],
  repeatable: true,
  alwaysLoaded: true,
  config: workerManagerConfig,
  adapters: [],
} satisfies ModuleDeclaration<WorkerManagerConfig>;

export type WorkerManagerConfig = ValueOf<typeof workerManagerConfig>;
