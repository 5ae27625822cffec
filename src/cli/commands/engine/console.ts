import { spawn } from 'node:child_process';
import { resolve } from 'node:path';
import {
  type ConsoleOptions,
  ConsoleStartError,
  isOn,
  readEngineTls,
  readPagesTls,
  readToken,
} from '../../../console/server/options.ts';
import { tlsOf } from '../../engine/tls.ts';
import { type Context, defineCommand } from '../../kernel/command.ts';
import { CliFailure, EXIT, usageFailure } from '../../kernel/failures.ts';
import { type FlagTable, TLS_FLAGS } from '../../kernel/flags.ts';

const FLAGS = {
  port: {
    kind: 'count',
    placeholder: '<port>',
    short: 'p',
    min: 0,
    max: 65_535,
    fallback: '3113',
    help: 'Port to listen on.',
  },
  host: { kind: 'text', placeholder: '<address>', fallback: '127.0.0.1', help: 'Address to listen on.' },
  'engine-host': { kind: 'text', placeholder: '<host>', fallback: '127.0.0.1', help: 'Host of the engine.' },
  'engine-port': portFlag('3111', 'HTTP port of the engine.'),
  'ws-port': portFlag('3112', 'Stream port of the engine.'),
  'bridge-port': portFlag('49134', 'Worker port of the engine.'),
  'engine-tls': {
    kind: 'text',
    placeholder: '<ports>',
    help: 'Ports of the engine with TLS: all, or a list of http, streams, workers.',
  },
  ...TLS_FLAGS,
  'tls-cert-file': { kind: 'text', placeholder: '<file>', help: 'Certificate for the pages: serve them on https://.' },
  'tls-key-file': { kind: 'text', placeholder: '<file>', help: 'Its private key.' },
  'tls-min-version': {
    kind: 'text',
    placeholder: '<version>',
    fallback: 'TLSv1.2',
    help: 'Lowest version of TLS for the pages: TLSv1.2 or TLSv1.3.',
  },
  'token-file': {
    kind: 'text',
    placeholder: '<file>',
    help: 'File that holds the bridge token. SVC_TOKEN may hold the token itself.',
  },
  'read-only': { kind: 'switch', help: 'Refuse calls that change anything.' },
  'enable-flow': { kind: 'switch', help: 'Show the Flow page. SVC_ENABLE_FLOW=true does the same.' },
  'no-otel': { kind: 'switch', help: 'Do not show the console in traces. OTEL_DISABLED=true does the same.' },
  'otel-service-name': {
    kind: 'text',
    placeholder: '<name>',
    env: 'OTEL_SERVICE_NAME',
    fallback: 'svc-console',
    help: 'Service name of its calls in traces.',
  },
  open: { kind: 'switch', help: 'Open the page in the browser.' },
} as const satisfies FlagTable;

export const consoleCommand = defineCommand({
  name: 'console',
  summary: 'Start the web console.',
  details: [
    'Serves the pages and forwards their calls to the engine, which may start later. Listening on an address that ' +
      'other machines can reach needs the bridge token.',
  ],
  flags: FLAGS,
  formats: ['table', 'json', 'jsonl'],
  examples: [
    { line: 'svc console', shows: 'Serves the console on http://127.0.0.1:3113/.' },
    { line: 'svc console --port 8080 --read-only', shows: 'Serves it on another port, read-only.' },
    { line: 'svc console --engine-tls all', shows: 'For an engine with TLS; SVC_CA_FILE names its authority.' },
  ],
  exitCodes: [EXIT.conflict, EXIT.interrupted],
  async run(context) {
    const { output, terminal } = context;
    const { startConsole } = await import('../../../console/server/server.ts');
    try {
      const options = optionsOf(context);
      const running = await startConsole(options, (line) => output.note(line));
      const { url, engine } = running;
      terminal.onHangup(() => running.refresh());
      output.printDocument({ url, engine, read_only: options.isReadOnly }, url);
      output.note(`The engine is expected at ${engine}`);
      if (context.flags.open) openBrowser(url);
      const signal = await new Promise((stopped) => terminal.onSignal(stopped));
      await running.stop();
      return signal === 'SIGINT' ? EXIT.interrupted : EXIT.done;
    } catch (error) {
      throw error instanceof ConsoleStartError ? failureOf(error) : error;
    }
  },
});

function portFlag(fallback: string, help: string) {
  return { kind: 'count', placeholder: '<port>', min: 1, max: 65_535, fallback, help } as const;
}

function optionsOf({ flags, terminal: { env, cwd } }: Context<typeof FLAGS>): ConsoleOptions {
  const file = flags['token-file'];
  const pathOf = (name: string | undefined) => (name === undefined ? undefined : resolve(cwd, name));
  const isNamed = !flags['no-otel'] && !isOn(env.OTEL_DISABLED);
  return {
    host: flags.host,
    port: flags.port,
    engineHost: flags['engine-host'],
    enginePort: flags['engine-port'],
    streamPort: flags['ws-port'],
    bridgePort: flags['bridge-port'],
    engineTls: readEngineTls(flags['engine-tls']),
    trust: tlsOf('https:', { flags, terminal: { cwd } }) ?? {},
    tls: readPagesTls({
      certFile: pathOf(flags['tls-cert-file']),
      keyFile: pathOf(flags['tls-key-file']),
      minVersion: flags['tls-min-version'],
    }),
    token: readToken(file === undefined ? undefined : resolve(cwd, file), env),
    isReadOnly: flags['read-only'],
    hasFlow: flags['enable-flow'] || isOn(env.SVC_ENABLE_FLOW),
    serviceName: isNamed ? flags['otel-service-name'] : undefined,
  };
}

function failureOf({ message, hint, isUsage }: ConsoleStartError): CliFailure {
  if (isUsage) return usageFailure(message, hint);
  return new CliFailure({ code: 'PORT_IN_USE', message, exitCode: EXIT.conflict });
}

/** Best effort: without a browser, the user has the printed address. */
export function openBrowser(url: string): void {
  const command = process.platform === 'darwin' ? 'open' : process.platform === 'win32' ? 'explorer' : 'xdg-open';
  spawn(command, [url], { stdio: 'ignore', detached: true })
    .on('error', () => {})
    .unref();
}
