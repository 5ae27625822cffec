// Programs that use another logger: console, pino, winston (SDK-9).

import { Transform } from 'node:stream';
import { fastify } from 'fastify';
import { expect, test } from 'vitest';
import { createWorker, nodePlatform } from '../../../../src/sdk/internal.ts';
import { bridgeConsole, pinoStream, WinstonTransport } from '../../../../src/sdk/logging.ts';
import { createLogger, type LoggerLevel } from '../../../../src/sdk/telemetry/telemetry.ts';
import { FakePlatform } from '../../../support/fakes/fake-platform.ts';

type Logged = readonly [level: LoggerLevel, message: string, data: unknown];

function recording() {
  const logged: Logged[] = [];
  return {
    logged,
    logger: createLogger(
      (level, message, data) => void logged.push([level, message, data]),
      () => undefined,
    ),
  };
}

function printer() {
  const printed: unknown[][] = [];
  const print = (...values: unknown[]): void => void printed.push(values);
  return { printed, console: { trace: print, debug: print, log: print, info: print, warn: print, error: print } };
}

test('[SDK-9] a line written with console is printed, and is a record with its level and fields', () => {
  const { logged, logger } = recording();
  const { printed, console } = printer();
  bridgeConsole(logger, console);
  console.log('started on port %d', 80);
  console.warn('stock is low', { sku: 'a1', left: 2 });
  console.error('failed', new Error('no stock').message);
  console.trace('one');
  console.debug({ sku: 'a1' });
  console.info('%o', { sku: 'a1' });
  expect(logged).toEqual([
    ['info', 'started on port 80', undefined],
    ['warn', 'stock is low', { sku: 'a1', left: 2 }],
    ['error', 'failed no stock', undefined],
    ['trace', 'one', undefined],
    ['debug', "{ sku: 'a1' }", undefined],
    ['info', "{ sku: 'a1' }", undefined],
  ]);
  expect(printed.slice(0, 2)).toEqual([
    ['started on port %d', 80],
    ['stock is low', { sku: 'a1', left: 2 }],
  ]);
});

test('[SDK-9] a console bridge is removed by the function it returned, and keeps later replacements', () => {
  const { logged, logger } = recording();
  const { printed, console } = printer();
  const { log } = console;
  const end = bridgeConsole(logger, console);
  const own = (): void => {};
  console.warn = own;
  end();
  console.log('after');
  expect([logged, printed, console.log, console.warn]).toEqual([[], [['after']], log, own]);
});

test('[SDK-9] a logger that prints to the console gives one record per line', () => {
  const { printed, console } = printer();
  const logged: string[] = [];
  const logger = createLogger(
    (_level, message) => {
      logged.push(message);
      console.log(`logged: ${message}`);
    },
    () => undefined,
  );
  bridgeConsole(logger, console);
  const hostile = {
    [Symbol.for('nodejs.util.inspect.custom')]() {
      throw new Error('not shown');
    },
  };
  console.info(hostile);
  console.info('still here');
  expect(logged).toEqual(['still here']);
  expect(printed.at(-1)).toEqual(['logged: still here']);
});

test('[SDK-9] lines of pino are records with their level and fields', async () => {
  const { logged, logger } = recording();
  // Its logger is pino itself.
  await using app = fastify({ logger: { level: 'trace', stream: pinoStream(logger) } });
  app.log.trace('one');
  app.log.child({ sku: 'a1' }).warn({ left: 2 }, 'stock is low');
  app.log.fatal('the end');
  app.log.error(new RangeError('no stock'));
  expect(logged).toEqual([
    ['trace', 'one', undefined],
    ['warn', 'stock is low', { sku: 'a1', left: 2 }],
    ['error', 'the end', undefined],
    ['error', 'no stock', { err: expect.objectContaining({ type: 'RangeError', message: 'no stock' }) }],
  ]);
});

test('[SDK-9] a line in a custom format of pino is still a record', () => {
  const { logged, logger } = recording();
  const stream = pinoStream(logger);
  stream.write('12:00 INFO pretty\n');
  stream.write('{"level":"WARN","msg":"named"}\n{"level":20,"sku":"a1"}\n\n[1]\n');
  expect(logged).toEqual([
    ['info', '12:00 INFO pretty', undefined],
    ['warn', 'named', undefined],
    ['debug', '{"sku":"a1"}', { sku: 'a1' }],
    ['info', '[1]', undefined],
  ]);
});

/** Like winston's own: an object stream with the levels of npm, whose transports select by level. */
class WinstonLike extends Transform {
  readonly levels = { error: 0, warn: 1, info: 2, http: 3, verbose: 4, debug: 5, silly: 6 };
  level = 'info';

  constructor(transport: WinstonTransport) {
    super({ objectMode: true, transform: (info, _encoding, done) => done(null, info) });
    // winston requires this of a transport.
    expect(transport.writableObjectMode).toBe(true);
    expect(transport.log).toHaveLength(2);
    this.pipe(transport);
  }

  say(level: string, message: unknown, metadata: object = {}): void {
    this.write({ ...metadata, level: `\u001b[32m${level}\u001b[39m`, message, [Symbol.for('level')]: level });
  }
}

test('[SDK-9] entries of winston are records with their level and fields, selected by its level', async () => {
  const { logged, logger } = recording();
  const transport = new WinstonTransport(logger);
  const winston = new WinstonLike(transport);
  winston.say('info', 'creating', { sku: 'a1' });
  winston.say('debug', 'not asked for');
  winston.say('error', { odd: true });
  transport.level = 'silly';
  winston.say('silly', 'asked for');
  winston.end();
  await new Promise((resolve) => transport.once('finish', resolve));
  expect(logged).toEqual([
    ['info', 'creating', expect.objectContaining({ sku: 'a1' })],
    ['error', '{"odd":true}', undefined],
    ['trace', 'asked for', undefined],
  ]);
});

test.each([
  ['console', 'stock is low'],
  ['pino', 'stock is low'],
  ['winston', 'stock is low'],
])('[SDK-9] a log line of a handler with %s is part of its trace', async (kind, message) => {
  const platform = new FakePlatform();
  platform.createContextStorage = nodePlatform.createContextStorage;
  const svc = createWorker('ws://engine.test:49134', { announce: false }, platform);
  const socket = await platform.connect();
  const { console } = printer();
  bridgeConsole(svc.logger, console);
  const stream = pinoStream(svc.logger);
  const winston = new WinstonLike(new WinstonTransport(svc.logger));
  svc.registerFunction('f', async () => {
    await Promise.resolve();
    if (kind === 'console') console.warn(message, { sku: 'a1' });
    if (kind === 'pino') stream.write(`{"level":40,"msg":"${message}","sku":"a1"}\n`);
    if (kind === 'winston') winston.say('warn', message, { sku: 'a1' });
  });
  await platform.settle();
  socket.say({ type: 'invokefunction', invocation_id: 'e-1', function_id: 'f', traceparent: SAMPLED });
  await platform.pass(100);
  const frame = socket.telemetry.find(({ kind: prefix }) => prefix === 'LOGS');
  const text = JSON.stringify(frame?.body);
  expect(text).toContain(`"body":{"stringValue":"${message}"}`);
  expect(text).toContain('{"key":"sku","value":{"stringValue":"a1"}}');
  expect(text).toContain(`"traceId":"${TRACE}"`);
});

const TRACE = '0af7651916cd43dd8448eb211c80319c';
const SAMPLED = `00-${TRACE}-b7ad6b7169203331-01`;
