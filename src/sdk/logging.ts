// `svc-sdk/logging`: for programs that log with something else already.

export { bridgeConsole, type ConsoleMethods } from './log-console.ts';
export { type PinoStream, pinoStream } from './log-pino.ts';
export { WinstonTransport } from './log-winston.ts';
