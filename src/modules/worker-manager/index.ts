// `svc-worker-manager`: a port that workers connect to. Always loaded: without an entry there is one with defaults.

import { ConnectionGate } from '../../core/connection-gate.ts';
import { hostInUrl } from '../../core/origin.ts';
import { SUBPROTOCOL_CHANNEL, SUBPROTOCOLS } from '../../protocol/subprotocols.ts';
import { takeTelemetry } from '../../router/telemetry.ts';
import type { AcceptedRequest, Listener, PeerSocket, SocketEvents } from '../../transport/socket.ts';
import { defineModule, type EngineModule, type ModuleContext } from '../module.ts';
import { type AdmissionRules, admit, TELEMETRY_PATH } from './admission.ts';
import { type ChannelTarget, channelTarget } from './channel-endpoint.ts';
import { type WorkerManagerConfig, workerManagerDeclaration } from './config.ts';
import { TelemetrySockets } from './telemetry-sockets.ts';

export const workerManagerModule = defineModule({
  declaration: workerManagerDeclaration,
  create: (context, config) => new WorkerPort(context, config),
});

class WorkerPort implements EngineModule {
  readonly functions = [];
  readonly triggerTypes = [];
  readonly #context: ModuleContext;
  readonly #config: WorkerManagerConfig;
  readonly #gate: ConnectionGate;
  readonly #rules: AdmissionRules;
  /** Open worker connections by address; their telemetry sockets come without credentials. */
  readonly #workersByAddress = new Map<string, number>();
  readonly #telemetry: TelemetrySockets;
  /** What the request just admitted asks for: the transport tells of its connection in the same step. */
  #target: ChannelTarget | undefined;
  #listener: Listener | undefined;

  constructor(context: ModuleContext, config: WorkerManagerConfig) {
    this.#context = context;
    this.#config = config;
    this.#gate = new ConnectionGate(context.settings.trusted);
    this.#telemetry = new TelemetrySockets(context.clock, () =>
      context.router.count('connections.closed', 'silent_telemetry'),
    );
    this.#rules = {
      token: context.settings.bridgeToken,
      boundHost: config.host,
      allowedHosts: context.settings.allowedHosts.map((name) => name.toLowerCase()),
      allowedOrigins: config.allowed_origins.map((origin) => origin.toLowerCase()),
    };
  }

  async start(): Promise<void> {
    const { transport, settings, clock, router, logger } = this.#context;
    this.#listener = await transport.listen({
      host: this.#config.host,
      port: this.#config.port,
      frameBytesMax: settings.trusted.frameBytes,
      // Twice our own limit: the library must never drop what our own accounting still allows (L5).
      bufferedBytesMax: 2 * settings.trusted.outboundCloseBytes + settings.trusted.frameBytes,
      admit: (request) => {
        const admission = admit(request, this.#rules, {
          nowMs: clock.monotonicMs(),
          gate: this.#gate,
          isDraining: router.isDraining,
          isKnownAddress: (address) => this.#workersByAddress.has(address),
          isChannel: (id, key) => router.channels.knows(id, key),
        });
        this.#target = channelTarget(request);
        if (!admission.ok) {
          const { remoteAddress, path } = request;
          router.count('connections.refused', String(admission.status));
          // Strangers choose the path; the log is not theirs to fill.
          const shownPath = path.slice(0, LOGGED_PATH_CHARS_MAX);
          logger.warn('Connection refused', { address: remoteAddress, path: shownPath, reason: admission.text });
        }
        return admission;
      },
      connected: (socket, request) => this.#connected(socket, request),
    });
    this.#telemetry.start();
  }

  drain(): void {
    this.#listener?.stopAccepting();
  }

  stop(): void {
    this.#telemetry.stop();
    this.#listener?.close();
  }

  health() {
    return { status: this.#listener === undefined ? 'unhealthy' : 'healthy' } as const;
  }

  listeners() {
    const port = this.#listener?.port ?? this.#config.port;
    return [{ name: 'workers', address: `ws://${hostInUrl(this.#config.host)}:${port}` }];
  }

  #connected(socket: PeerSocket, request: AcceptedRequest): SocketEvents {
    const target = this.#target;
    if (target?.ok === true) return this.#channelEvents(socket, request, target);
    if (request.path === TELEMETRY_PATH) return this.#telemetryEvents(socket);
    const { remoteAddress } = request;
    this.#countAddress(remoteAddress, 1);
    const events = this.#context.connections.connect({
      socket,
      remoteAddress,
      subprotocol: SUBPROTOCOLS.find((name) => name === request.subprotocol),
      limits: this.#context.settings.trusted,
    });
    return {
      ...events,
      closed: (code, isOverlong) => {
        this.#gate.leave();
        this.#countAddress(remoteAddress, -1);
        events.closed(code, isOverlong);
      },
    };
  }

  #channelEvents(
    socket: PeerSocket,
    { subprotocol }: AcceptedRequest,
    { id, direction }: ChannelTarget & { ok: true },
  ): SocketEvents {
    const keepsToCredit = subprotocol === SUBPROTOCOL_CHANNEL;
    const events = this.#context.router.channels.connect({ id, direction, socket, keepsToCredit });
    return {
      ...events,
      closed: (code, isOverlong) => {
        this.#gate.leave();
        if (isOverlong === true) this.#context.router.count('connections.closed', 'message_too_big');
        events.closed(code, isOverlong);
      },
    };
  }

  /** A socket that only brings telemetry never becomes a worker. */
  #telemetryEvents(socket: PeerSocket): SocketEvents {
    const { router } = this.#context;
    this.#telemetry.add(socket);
    return {
      message: (bytes, isBinary) => {
        this.#telemetry.heard(socket);
        if (!isBinary || !takeTelemetry(router, bytes)) router.count('telemetry.dropped', 'unknown_prefix');
      },
      heard: () => this.#telemetry.heard(socket),
      closed: (_code, isOverlong) => {
        this.#gate.leave();
        this.#telemetry.remove(socket);
        if (isOverlong) router.count('connections.closed', 'message_too_big');
      },
    };
  }

  #countAddress(address: string, change: 1 | -1): void {
    const count = (this.#workersByAddress.get(address) ?? 0) + change;
    if (count === 0) this.#workersByAddress.delete(address);
    else this.#workersByAddress.set(address, count);
  }
}

const LOGGED_PATH_CHARS_MAX = 100;
