// The web console that `svc dev` serves next to its engine. A console that cannot start is reported, and the engine
// runs without it.

import type { LoadedConfig } from '../../../config/load.ts';
import type { RunningConsole } from '../../../console/server/server.ts';
import type { RunningEngine } from '../../../engine/engine.ts';
import { toFailure } from '../../kernel/failures.ts';
import type { Output } from '../../text/output.ts';

const PORT = 3113;

interface DevContext {
  readonly flags: { readonly 'port-offset': number };
  readonly output: Output;
}

/** Undefined when the configuration has no HTTP port, or the console's own port is taken. */
export async function serveConsole(
  { flags, output }: DevContext,
  { settings }: LoadedConfig,
  { listeners }: RunningEngine,
): Promise<RunningConsole | undefined> {
  const portOf = (name: string): number | undefined => {
    const address = listeners.find((listener) => listener.name === name)?.address;
    return address === undefined ? undefined : Number(new URL(address).port);
  };
  const enginePort = portOf('http');
  if (enginePort === undefined) {
    output.detail('No console: it needs the module svc-http.');
    return undefined;
  }
  try {
    const options = {
      host: '127.0.0.1',
      port: PORT + flags['port-offset'],
      ...{ engineHost: '127.0.0.1', enginePort },
      // Without streams, or with workers on another port, the console does not connect to these ports.
      streamPort: portOf('streams') ?? 0,
      bridgePort: portOf('workers') ?? 0,
      token: settings.bridge_token,
      isReadOnly: false,
      hasFlow: true,
      serviceName: 'svc-console',
    };
    const { startConsole } = await import('../../../console/server/server.ts');
    const running = await startConsole(options, (line) => output.detail(line));
    output.note(`Console: ${running.url}`);
    return running;
  } catch (error) {
    output.warn(`${toFailure(error).message} The engine runs without a console. Use --port-offset to move all ports.`);
    return undefined;
  }
}
