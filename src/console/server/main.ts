// The binary `svc-console`: the console server alone, without the engine's package.

import { parseArgs } from 'node:util';
import { type ConsoleOptions, ConsoleStartError, isOn, readEngineTls, readPagesTls, readToken } from './options.ts';
import { startConsole } from './server.ts';

const USAGE = `Usage: svc-console [flags]

  -p, --port <port>               Port of the pages. Default 3113
      --host <address>            Address to listen on. Default 127.0.0.1
      --engine-host <host>        Host of the engine. Default 127.0.0.1
      --engine-port <port>        Its HTTP port. Default 3111
      --ws-port <port>            Its stream port. Default 3112
      --bridge-port <port>        Its worker port. Default 49134
      --engine-tls <ports>        Those with TLS: all, or a list of http, streams, workers
      --ca-file <file>            Authority to trust there, PEM (SVC_CA_FILE)
      --cert-file <file>          Own certificate for an engine that requires one (SVC_CERT_FILE)
      --key-file <file>           Its private key (SVC_KEY_FILE)
      --server-name <name>        Name in the engine's certificate, if not its host (SVC_SERVER_NAME)
      --tls-cert-file <file>      Certificate for the pages: serve them on https://
      --tls-key-file <file>       Its private key
      --tls-min-version <version> TLSv1.2 or TLSv1.3. Default TLSv1.2
      --token-file <file>         File with the bridge token; SVC_TOKEN may hold it itself
      --read-only                 Nothing can be changed
      --enable-flow               Show the Flow page (SVC_ENABLE_FLOW)
      --no-otel                   Do not name the console in traces (OTEL_DISABLED)
      --otel-service-name <name>  Its name there. Default svc-console (OTEL_SERVICE_NAME)
`;

const PORTS = { port: '3113', 'engine-port': '3111', 'ws-port': '3112', 'bridge-port': '49134' } as const;

main().catch((error: unknown) => {
  const hint = error instanceof ConsoleStartError && error.hint !== undefined ? `${error.hint}\n` : '';
  process.stderr.write(`error: ${error instanceof Error ? error.message : error}\n${hint}`);
  process.exitCode = error instanceof ConsoleStartError && !error.isUsage ? 7 : 2;
});

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      port: { type: 'string', short: 'p' },
      host: { type: 'string' },
      'engine-host': { type: 'string' },
      'engine-port': { type: 'string' },
      'ws-port': { type: 'string' },
      'bridge-port': { type: 'string' },
      'engine-tls': { type: 'string' },
      'ca-file': { type: 'string' },
      'cert-file': { type: 'string' },
      'key-file': { type: 'string' },
      'server-name': { type: 'string' },
      'tls-cert-file': { type: 'string' },
      'tls-key-file': { type: 'string' },
      'tls-min-version': { type: 'string' },
      'token-file': { type: 'string' },
      'read-only': { type: 'boolean' },
      'enable-flow': { type: 'boolean' },
      'no-otel': { type: 'boolean' },
      'otel-service-name': { type: 'string' },
      help: { type: 'boolean', short: 'h' },
    },
  });
  if (values.help === true) {
    process.stdout.write(USAGE);
    return;
  }
  const { env } = process;
  const portOf = (name: keyof typeof PORTS): number => readPort(name, values[name] ?? PORTS[name]);
  const isNamed = values['no-otel'] !== true && !isOn(env.OTEL_DISABLED);
  const options: ConsoleOptions = {
    host: values.host ?? '127.0.0.1',
    port: portOf('port'),
    engineHost: values['engine-host'] ?? '127.0.0.1',
    enginePort: portOf('engine-port'),
    streamPort: portOf('ws-port'),
    bridgePort: portOf('bridge-port'),
    engineTls: readEngineTls(values['engine-tls']),
    trust: {
      ca_file: values['ca-file'] ?? (env.SVC_CA_FILE || undefined),
      cert_file: values['cert-file'] ?? (env.SVC_CERT_FILE || undefined),
      key_file: values['key-file'] ?? (env.SVC_KEY_FILE || undefined),
      server_name: values['server-name'] ?? (env.SVC_SERVER_NAME || undefined),
    },
    tls: readPagesTls({
      certFile: values['tls-cert-file'],
      keyFile: values['tls-key-file'],
      minVersion: values['tls-min-version'],
    }),
    token: readToken(values['token-file'], env),
    isReadOnly: values['read-only'] ?? false,
    hasFlow: (values['enable-flow'] ?? false) || isOn(env.SVC_ENABLE_FLOW),
    serviceName: isNamed ? (values['otel-service-name'] ?? (env.OTEL_SERVICE_NAME || 'svc-console')) : undefined,
  };
  const printLine = (line: string): void => void process.stderr.write(`${line}\n`);
  const running = await startConsole(options, printLine);
  process.stdout.write(`${running.url}\n`);
  printLine(`The engine is expected at ${running.engine}`);
  // On a terminal the signal means that the terminal was closed.
  if (!process.stderr.isTTY) process.on('SIGHUP', () => running.refresh());
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => {
      running.stop().then(() => process.exit(signal === 'SIGINT' ? 130 : 0));
    });
  }
}

function readPort(name: string, text: string): number {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : Number.NaN;
  if (port >= 0 && port <= 65_535) return port;
  throw new ConsoleStartError(`--${name} is '${text}': expected a port from 0 to 65535.`);
}
