// The web console that `svc dev` serves beside its engine. Without one the engine runs as well: what stands in its way
// is said, and nothing ends.

import type { LoadedConfig } from '../config/load.ts';
import type { RunningConsole } from '../console/server/server.ts';
import type { RunningEngine } from '../engine.ts';
import { toFailure } from './failures.ts';
import type { Output } from './output.ts';

const PORT = 3113;

interface DevContext {
  readonly flags: { readonly 'port-offset': number };
  readonly output: Output;
}

/** Undefined where the configuration has no HTTP port, or the console's own port is taken. */
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
      // Without streams, or with a port of its own for workers elsewhere, nothing is asked there.
      streamPort: portOf('streams') ?? 0,
      bridgePort: portOf('workers') ?? 0,
      token: settings.bridge_token,
      isReadOnly: false,
      hasFlow: true,
      serviceName: 'svc-console',
    };
    const { startConsole } = await import('../console/server/server.ts');
    const running = await startConsole(options, (line) => output.detail(line));
    output.note(`Console: ${running.url}`);
    return running;
  } catch (error) {
    output.warn(`${toFailure(error).message} The engine runs without a console; --port-offset moves all ports.`);
    return undefined;
  }
}
