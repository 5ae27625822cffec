// `svc-sdk/logging`: for programs that already use another logger.

export { bridgeConsole, type ConsoleMethods } from './telemetry/log-console.ts';
export { type PinoStream, pinoStream } from './telemetry/log-pino.ts';
export { WinstonTransport } from './telemetry/log-winston.ts';
