// `svc-worker-manager`: a port that workers connect to. Always loaded: without an entry there is one with defaults.

import { ANONYMOUS, type Grant } from '../../core/access.ts';
import { AddressBlocks } from '../../core/address-block.ts';
import { AddressGate } from '../../core/address-gate.ts';
import { clientAddress } from '../../core/client-address.ts';
import { ConnectionGate } from '../../core/connection-gate.ts';
import { hostInUrl, isLoopbackHost } from '../../core/origin.ts';
import { CLOSE_CODES } from '../../protocol/close-codes.ts';
import { SUBPROTOCOL_CHANNEL, SUBPROTOCOLS } from '../../protocol/subprotocols.ts';
import { takeTelemetry } from '../../router/telemetry.ts';
import type {
  AcceptedRequest,
  Admission,
  Listener,
  PeerSocket,
  PendingAdmission,
  SocketEvents,
  UpgradeRequest,
} from '../../transport/socket.ts';
import { defineModule, type EngineModule, type ModuleContext } from '../module.ts';
import { type AdmissionRules, admit, TELEMETRY_PATH } from './admission.ts';
import { type ChannelTarget, channelTarget } from './channel-endpoint.ts';
import { authFunctionOf, type WorkerManagerConfig, workerManagerDeclaration } from './config.ts';
import { Doorman } from './doorman.ts';
import { PortGuard } from './port-guard.ts';
import { TelemetrySockets } from './telemetry-sockets.ts';

export const workerManagerModule = defineModule({
  declaration: workerManagerDeclaration,
  create: (context, config) => new WorkerPort(context, config),
});

type Admitted = Admission & { readonly ok: true };
type Refused = Admission & { readonly ok: false };
type ChannelEnd = ChannelTarget & { readonly ok: true };

/** The console's own pages. */
const BRIDGE_ORIGINS = ['http://127.0.0.1:3113', 'http://localhost:3113'];

/** Somebody who was let in, as far as the port has to know him until he leaves. */
interface Visitor {
  readonly address: string;
  /** Whether his address takes places at its gate. */
  readonly isCounted: boolean;
  readonly target: ChannelEnd | undefined;
  readonly grant: Grant;
}

class WorkerPort implements EngineModule {
  readonly functions = [];
  readonly triggerTypes = [];
  readonly #context: ModuleContext;
  readonly #config: WorkerManagerConfig;
  readonly #limits: ModuleContext['settings']['trusted'];
  readonly #gate: ConnectionGate;
  /** Only of ports for browsers: others are used by machines, and many share an address (decisions 27). */
  readonly #addressGate: AddressGate | undefined;
  readonly #proxies: AddressBlocks;
  readonly #rules: AdmissionRules;
  readonly #guard: PortGuard;
  readonly #doorman: Doorman | undefined;
  /** Open worker connections by address; their telemetry sockets come without credentials. */
  readonly #workersByAddress = new Map<string, number>();
  readonly #telemetry: TelemetrySockets;
  #listener: Listener | undefined;
  #stopTrimming: (() => void) | undefined;

  constructor(context: ModuleContext, config: WorkerManagerConfig) {
    const { settings, router } = context;
    const isRestricted = config.rbac !== undefined;
    this.#context = context;
    this.#config = config;
    this.#limits = isRestricted ? settings.browser : settings.trusted;
    this.#gate = new ConnectionGate(this.#limits, () => context.openFiles.take());
    this.#addressGate = isRestricted ? new AddressGate(settings.browser.perAddress) : undefined;
    this.#proxies = new AddressBlocks(settings.trustedProxies);
    this.#guard = new PortGuard(config, settings.browser, router.registrations);
    this.#telemetry = new TelemetrySockets(context.clock, () => router.count('connections.closed', 'silent_telemetry'));
    this.#rules = {
      token: isRestricted ? undefined : settings.bridgeToken,
      boundHost: config.host,
      allowedHosts: settings.allowedHosts.map((name) => name.toLowerCase()),
      allowedOrigins: (config.allowed_origins ?? (isRestricted ? [] : BRIDGE_ORIGINS)).map((one) => one.toLowerCase()),
      servesOwnPages: isRestricted,
    };
    const { authCalls: waitingMax, askMs: askMsMax } = settings.browser;
    const authFunctionId = isRestricted ? authFunctionOf(config) : undefined;
    this.#doorman =
      authFunctionId === undefined ? undefined : new Doorman({ router, authFunctionId, askMsMax, waitingMax });
  }

  async start(): Promise<void> {
    const { frameBytes, outboundCloseBytes } = this.#limits;
    this.#listener = await this.#context.transport.listen({
      host: this.#config.host,
      port: this.#config.port,
      frameBytesMax: frameBytes,
      // Twice our own limit: the library must never drop what our own accounting still allows (L5).
      bufferedBytesMax: 2 * outboundCloseBytes + frameBytes,
      admit: (request) => this.#admit(request),
      // Everyone who is let in comes with what is to be called instead.
      connected: () => {
        throw new Error('Somebody connected who was not let in');
      },
    });
    this.#telemetry.start();
    const { clock } = this.#context;
    this.#stopTrimming = clock.every(TRIM_INTERVAL_MS, () => this.#addressGate?.trim(clock.monotonicMs()));
  }

  drain(): void {
    this.#listener?.stopAccepting();
  }

  stop(): void {
    this.#telemetry.stop();
    this.#stopTrimming?.();
    this.#listener?.close();
  }

  health() {
    return { status: this.#listener === undefined ? 'unhealthy' : 'healthy' } as const;
  }

  listeners() {
    const port = this.#listener?.port ?? this.#config.port;
    const name = this.#config.rbac === undefined ? 'workers' : 'browsers';
    return [{ name, address: `ws://${hostInUrl(this.#config.host)}:${port}` }];
  }

  #admit(request: UpgradeRequest): Admission | PendingAdmission {
    const { clock, router } = this.#context;
    const address = this.#addressOf(request);
    const isCounted = this.#addressGate !== undefined && !this.#standsForMany(address);
    const admission = admit(request, this.#rules, {
      nowMs: clock.monotonicMs(),
      gate: this.#gate,
      addressGate: isCounted ? this.#addressGate : undefined,
      address,
      isDraining: router.isDraining,
      isAuthBusy: this.#doorman?.isBusy === true,
      isKnownAddress: (known) => this.#workersByAddress.has(known),
      isChannel: (id, key) => router.channels.knows(id, key),
    });
    if (!admission.ok) return this.#refused(request, address, admission, admission.text);
    const target = channelTarget(request);
    const visitor = { address, isCounted, target: target?.ok === true ? target : undefined, grant: ANONYMOUS };
    if (visitor.target !== undefined || this.#doorman === undefined) return this.#welcome(admission, visitor);
    return this.#askDoorman(this.#doorman, request, admission, visitor);
  }

  /** The verdict comes later; until then the newcomer has his place, and gives it back if he is refused or leaves. */
  #askDoorman(doorman: Doorman, request: UpgradeRequest, admission: Admitted, visitor: Visitor): PendingAdmission {
    const { path } = request;
    let hasPlace = true;
    const leave = (): void => {
      if (hasPlace) this.#leave(visitor);
      hasPlace = false;
    };
    const verdict = doorman.ask(request, visitor.address).then((answer): Admission => {
      if (answer.ok && !this.#context.router.isDraining) {
        return this.#welcome(admission, { ...visitor, grant: answer.grant });
      }
      leave();
      if (answer.ok) return this.#refused({ path }, visitor.address, STOPPING, STOPPING.text);
      return this.#refused({ path }, visitor.address, UNAUTHORIZED, `the auth function: ${answer.reason}`);
    });
    return { verdict, gone: leave };
  }

  #welcome(admission: Admitted, visitor: Visitor): Admission {
    return { ...admission, connected: (socket, accepted) => this.#connected(socket, accepted, visitor) };
  }

  /** Strangers choose the path, and the log is not theirs to fill. `reason` is for the log alone. */
  #refused({ path }: Pick<UpgradeRequest, 'path'>, address: string, refusal: Refused, reason: string): Admission {
    const { router, logger } = this.#context;
    router.count('connections.refused', String(refusal.status));
    logger.warn('Connection refused', { address, path: path.slice(0, LOGGED_PATH_CHARS_MAX), reason });
    return refusal;
  }

  #connected(socket: PeerSocket, request: AcceptedRequest, visitor: Visitor): SocketEvents {
    const events = this.#eventsFor(socket, request, visitor);
    return {
      ...events,
      closed: (code, isOverlong) => {
        this.#leave(visitor);
        events.closed(code, isOverlong);
      },
    };
  }

  #eventsFor(socket: PeerSocket, { path, subprotocol }: AcceptedRequest, visitor: Visitor): SocketEvents {
    const { target, address, grant } = visitor;
    if (target !== undefined) return this.#channelEvents(socket, subprotocol, target);
    if (path === TELEMETRY_PATH) return this.#telemetryEvents(socket);
    this.#countAddress(address, 1);
    const events = this.#context.connections.connect({
      socket,
      remoteAddress: address,
      subprotocol: SUBPROTOCOLS.find((name) => name === subprotocol),
      limits: this.#limits,
      guard: this.#guard.forConnection(grant, this.#context.clock.monotonicMs()),
    });
    return {
      ...events,
      closed: (code, isOverlong) => {
        this.#countAddress(address, -1);
        events.closed(code, isOverlong);
      },
    };
  }

  #channelEvents(socket: PeerSocket, subprotocol: string | undefined, { id, direction }: ChannelEnd): SocketEvents {
    const keepsToCredit = subprotocol === SUBPROTOCOL_CHANNEL;
    const events = this.#context.router.channels.connect({ id, direction, socket, keepsToCredit });
    return {
      ...events,
      closed: (code, isOverlong) => {
        if (isOverlong === true) this.#context.router.count('connections.closed', 'message_too_big');
        events.closed(code, isOverlong);
      },
    };
  }

  /** A socket that only brings telemetry never becomes a worker. */
  #telemetryEvents(socket: PeerSocket): SocketEvents {
    const { router, clock } = this.#context;
    const rate = this.#guard.rate(clock.monotonicMs());
    this.#telemetry.add(socket);
    return {
      message: (bytes, isBinary) => {
        this.#telemetry.heard(socket);
        const verdict = rate?.take(clock.monotonicMs()) ?? 'ok';
        if (verdict === 'flood') socket.close(CLOSE_CODES.tooManyMessages, 'too many messages for 10 s');
        if (verdict !== 'ok') return router.count('messages.refused', 'RATE_LIMITED');
        if (!isBinary || !takeTelemetry(router, bytes)) router.count('telemetry.dropped', 'unknown_prefix');
      },
      heard: () => this.#telemetry.heard(socket),
      closed: (_code, isOverlong) => {
        this.#telemetry.remove(socket);
        if (isOverlong) router.count('connections.closed', 'message_too_big');
      },
    };
  }

  #addressOf(request: UpgradeRequest): string {
    return clientAddress(request.remoteAddress, request.header('x-forwarded-for'), this.#proxies);
  }

  /** This machine and proxies bring many people under one address (decisions 27). */
  #standsForMany(address: string): boolean {
    return isLoopbackHost(address) || address === LOOPBACK_IPV6 || this.#proxies.has(address);
  }

  #leave({ address, isCounted }: Visitor): void {
    this.#gate.leave();
    if (isCounted) this.#addressGate?.leave(address);
  }

  #countAddress(address: string, change: 1 | -1): void {
    const count = (this.#workersByAddress.get(address) ?? 0) + change;
    if (count === 0) this.#workersByAddress.delete(address);
    else this.#workersByAddress.set(address, count);
  }
}

const LOGGED_PATH_CHARS_MAX = 100;
/** Whoever is refused learns nothing of why. */
const UNAUTHORIZED: Refused = { ok: false, status: 401, text: 'UNAUTHORIZED: not let in' };
const STOPPING: Refused = { ok: false, status: 503, text: 'SHUTTING_DOWN: the engine is stopping' };
const TRIM_INTERVAL_MS = 5_000;
/** As the transports write it. */
const LOOPBACK_IPV6 = '0000:0000:0000:0000:0000:0000:0000:0001';
