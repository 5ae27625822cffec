// An engine that sends invalid data, against a worker of our SDK: the process survives, the worker reconnects, and
// works as soon as the engine is valid again. `npm run fuzz` is the long form; a failure names its seed.

import { isUtf8 } from 'node:buffer';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type WebSocket, WebSocketServer } from 'ws';
import { SUBPROTOCOL_JSON, SUBPROTOCOL_RECORDS } from '../../../src/protocol/frames/subprotocols.ts';
import type { SvcWorker } from '../../../src/sdk/index.ts';
import { createWorker, nodePlatform } from '../../../src/sdk/internal.ts';
import { encodeFrame } from '../../support/clients/bare-socket.ts';
import { protocolAttack } from '../../support/clients/protocol-attacks.ts';
import { mutatedBatch } from '../../support/random/binary-mutations.ts';
import { mutatedFrame } from '../../support/random/frame-mutations.ts';
import { forEachSeedInTurn, type SeededRandom } from '../../support/random/seeded-random.ts';
import { within } from '../../support/wait-for.ts';
import { BinaryEngine, type JsonFrame } from '../../unit/sdk/wire/binary-engine.ts';

const FRAMES = Number(process.env.SVC_FUZZ_FRAMES ?? 2_000);
type Form = keyof typeof SUBPROTOCOLS;

const SUBPROTOCOLS = { compact: SUBPROTOCOL_RECORDS, json: SUBPROTOCOL_JSON };
const FRAMES_PER_CONNECTION = 100;
const FRAME_BYTES_MAX = 65_536;
const GREETING = { type: 'workerregistered', worker_id: 'w-1', reattach_token: 't-1' };

/** Errors that would have ended the process. */
const crashes: unknown[] = [];
const noteCrash = (error: unknown): void => void crashes.push(error);

beforeAll(() => {
  process.on('uncaughtException', noteCrash);
  process.on('unhandledRejection', noteCrash);
});

afterAll(() => {
  process.off('uncaughtException', noteCrash);
  process.off('unhandledRejection', noteCrash);
});

describe.each(['compact', 'json'] as const)('a worker on the %s form', (form) => {
  test('[fault 33] survives anything that an engine sends, and works with the next one', {
    timeout: 30_000 + FRAMES * 5,
  }, async () => {
    await forEachSeedInTurn(1, async (random) => {
      await using server = await MadEngine.start(form);
      const svc = connect(server.url, form);
      for (let sent = 0; sent < FRAMES; sent += FRAMES_PER_CONNECTION) {
        const engine = await server.connection();
        const calls = [
          svc.trigger({ function_id: 'x' }),
          svc.trigger({ function_id: 'y', payload: 'z', timeout_ms: 50 }),
        ];
        const ended = Promise.allSettled(calls);
        for (let count = 0; count < FRAMES_PER_CONNECTION; count++) engine.sendRubbish(random);
        engine.leave(random);
        await ended;
      }
      expect(crashes).toEqual([]);
      await expectToWork(svc, await server.connection());
      await svc.shutdown();
    });
  });
});

function connect(url: string, form: Form): SvcWorker {
  const wire: 'json' | 'binary' = form === 'json' ? 'json' : 'binary';
  const options = { wire, handle_signals: false, drain_timeout_ms: 0, frame_bytes_max: FRAME_BYTES_MAX, log: () => {} };
  // The test does not wait for the next dial here.
  const svc = createWorker(url, options, { ...nodePlatform, random: () => 0 });
  svc.registerFunction('fuzz::one', (value: unknown) => value);
  svc.registerFunction('fuzz::two', async (value: unknown) => value);
  svc.registerTriggerType(
    { id: 'fuzz-type', description: 'd' },
    { registerTrigger: () => {}, unregisterTrigger: () => Promise.reject(new Error('no')) },
  );
  svc.registerTrigger({ type: String('tick'), function_id: 'fuzz::one', config: {} });
  return svc;
}

/** A call in each direction gets the right answer. */
async function expectToWork(svc: SvcWorker, engine: MadConnection): Promise<void> {
  engine.send({ type: 'invokefunction', invocation_id: 'c-1', function_id: 'fuzz::one', data: { a: [1] } });
  expect(await engine.next('invocationresult')).toMatchObject({ invocation_id: 'c-1', result: { a: [1] } });
  const answer = svc.trigger({ function_id: 'engine::x', payload: 1 });
  const call = await engine.next('invokefunction', ({ function_id }) => function_id === 'engine::x');
  engine.send({ type: 'invocationresult', invocation_id: call.invocation_id, result: 'sane' });
  expect(await answer).toBe('sane');
}

class MadEngine implements AsyncDisposable {
  readonly #server: WebSocketServer;
  readonly #form: Form;
  readonly #arrived: MadConnection[] = [];
  #take: ((connection: MadConnection) => void) | undefined;

  private constructor(server: WebSocketServer, form: Form) {
    this.#server = server;
    this.#form = form;
    server.on('connection', (socket) => {
      const connection = new MadConnection(socket, this.#form);
      if (this.#take === undefined) this.#arrived.push(connection);
      else this.#take(connection);
      this.#take = undefined;
    });
  }

  static async start(form: Form): Promise<MadEngine> {
    const handleProtocols = () => SUBPROTOCOLS[form];
    const server = new WebSocketServer({ host: '127.0.0.1', port: 0, perMessageDeflate: false, handleProtocols });
    await once(server, 'listening');
    return new MadEngine(server, form);
  }

  get url(): string {
    return `ws://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** The next connection of the worker, after the greeting. */
  async connection(): Promise<MadConnection> {
    const arrived = this.#arrived.shift();
    if (arrived !== undefined) return arrived;
    return await within(
      10_000,
      'the worker connects',
      new Promise<MadConnection>((resolve) => {
        this.#take = resolve;
      }),
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const socket of this.#server.clients) socket.terminate();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}

class MadConnection {
  readonly #socket: WebSocket;
  readonly #form: Form;
  readonly #writer = new BinaryEngine();
  /** After random data the meaning of the answers is unknown. */
  #isSane = true;
  readonly #frames: JsonFrame[] = [];
  #wake: () => void = () => {};

  constructor(socket: WebSocket, form: Form) {
    this.#socket = socket;
    this.#form = form;
    // The close that follows gives the reason.
    socket.on('error', () => {});
    socket.on('message', (data: Buffer) => {
      if (!this.#isSane) return;
      this.#frames.push(...(form === 'json' ? [JSON.parse(String(data))] : this.#writer.read(data)));
      this.#wake();
    });
    this.send(GREETING);
  }

  send(frame: JsonFrame): void {
    if (this.#form === 'json') this.#socket.send(JSON.stringify(frame));
    else this.#socket.send(this.#writer.write([frame]));
  }

  sendRubbish(random: SeededRandom): void {
    this.#isSane = false;
    const isFitting = random.chance(90);
    const frame = isFitting === (this.#form !== 'json') ? mutatedBatch(random, 'toWorker') : mutatedFrame(random);
    const wantsBinary = isFitting === (this.#form !== 'json');
    this.#socket.send(frame, { binary: !isUtf8(frame) || wantsBinary });
  }

  /** With a close frame, without one, or by a violation of WebSocket. */
  leave(random: SeededRandom): void {
    const dice = random.below(3);
    if (dice === 0) this.#socket.close(random.pick([1000, 1001, 1009, 4400, 4408]), 'é');
    else if (dice === 1) this.#breach(random);
    // Earlier messages are read first.
    this.#socket.close();
  }

  #breach(random: SeededRandom): void {
    // The library frames everything it is given; invalid frames bypass it.
    const stream = (this.#socket as unknown as { _socket: NodeJS.WritableStream })._socket;
    const opcode = random.pick([3, 7, 11, 15]);
    stream.write(
      random.chance(50)
        ? protocolAttack(random, FRAME_BYTES_MAX).bytes
        : encodeFrame({ opcode, payload: Buffer.from('x'), masked: false, reserved: random.below(8) }),
    );
  }

  /** The oldest frame of that type not taken before, or the next that arrives. */
  async next(type: string, matches: (frame: JsonFrame) => boolean = () => true): Promise<JsonFrame> {
    const arriving = async (): Promise<JsonFrame> => {
      for (;;) {
        const index = this.#frames.findIndex((frame) => frame.type === type && matches(frame));
        const [found] = index < 0 ? [] : this.#frames.splice(index, 1);
        if (found !== undefined) return found;
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
      }
    };
    return await within(5_000, `a frame of type ${type} arrives`, arriving());
  }
}
