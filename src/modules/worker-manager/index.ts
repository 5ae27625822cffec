// `svc-worker-manager`: a port that workers connect to. Always loaded: without an entry there is one with defaults.

import { ANONYMOUS, type Grant } from '../../core/access/access.ts';
import { hostInUrl, isLoopbackHost, originOffence, type RequestOrigin } from '../../core/access/origin.ts';
import { AddressBlocks, clientAddress } from '../../core/limits/client-address.ts';
import { AddressLimit, ConnectionLimit } from '../../core/limits/connection-limits.ts';
import { PRESSURE } from '../../core/limits/pressure.ts';
import { SUBPROTOCOL_CHANNEL, SUBPROTOCOLS } from '../../protocol/frames/subprotocols.ts';
import type { Guard } from '../../router/restricted/guard.ts';
import type {
  AcceptedRequest,
  Admission,
  PeerSocket,
  PendingAdmission,
  SocketEvents,
  UpgradeRequest,
} from '../../transport/socket.ts';
import type { Listener } from '../../transport/transport.ts';
import { defineModule, type EngineModule, type ModuleContext, type Reconfiguration } from '../module.ts';
import { type AdmissionRules, admissionRules, admit, TELEMETRY_PATH } from './admission.ts';
import { type ChannelTarget, channelTarget } from './channel-endpoint.ts';
import {
  authFunctionOf,
  changedKeys,
  fixedKeys,
  type WorkerManagerConfig,
  workerManagerDeclaration,
} from './config.ts';
import { Doorman } from './doorman.ts';
import { PortGuard } from './port-guard.ts';
import { TelemetrySockets } from './telemetry-sockets.ts';
import { Visits } from './visits.ts';

export const workerManagerModule = defineModule({
  declaration: workerManagerDeclaration,
  create: (context, config) => new WorkerPort(context, config),
});

type Admitted = Admission & { readonly ok: true };
type Refused = Admission & { readonly ok: false };
type ChannelEnd = ChannelTarget & { readonly ok: true };

/** An admitted connection, until it ends. */
interface Visitor {
  readonly address: string;
  /** Whether its address takes places at its gate. */
  readonly isCounted: boolean;
  readonly target: ChannelEnd | undefined;
  /** The origin of its page. */
  readonly site: RequestOrigin | undefined;
  readonly grant: Grant;
  /** The rules by which it was admitted. */
  readonly rules: AdmissionRules;
}

class WorkerPort implements EngineModule<WorkerManagerConfig> {
  readonly functions = [];
  readonly triggerTypes = [];
  readonly #context: ModuleContext;
  #config: WorkerManagerConfig;
  readonly #limits: ModuleContext['settings']['trusted'];
  readonly #gate: ConnectionLimit;
  /** Only for ports for browsers: machines use the others, and many of them share an address (PD-27). */
  readonly #addressGate: AddressLimit | undefined;
  readonly #proxies: AddressBlocks;
  #rules: AdmissionRules;
  readonly #guard: PortGuard;
  #doorman: Doorman | undefined;
  /** Only for ports for browsers: other connections are not checked again. */
  readonly #visits: Visits | undefined;
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
    this.#gate = new ConnectionLimit(this.#limits, () => context.openFiles.take());
    this.#addressGate = isRestricted ? new AddressLimit(settings.browser.perAddress) : undefined;
    this.#proxies = new AddressBlocks(settings.trustedProxies);
    this.#guard = new PortGuard(config, settings.browser, router);
    this.#telemetry = new TelemetrySockets(context.clock, router);
    this.#rules = admissionRules(config, settings);
    this.#doorman = doormanOf(config, context);
    this.#visits = isRestricted ? new Visits(router) : undefined;
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
      // Every admitted connection has its own handlers.
      connected: () => {
        throw new Error('A connection opened that was not admitted');
      },
    });
    this.#telemetry.start();
    const { clock } = this.#context;
    this.#stopTrimming = clock.every(TRIM_INTERVAL_MS, () => this.#addressGate?.trim(clock.monotonicMs()));
  }

  async reconfigure(config: WorkerManagerConfig): Promise<Reconfiguration> {
    const fixed = fixedKeys(this.#config, config);
    if (fixed.length > 0) {
      return { ok: false, reason: `${fixed.join(', ')} can only change with a new start of the engine` };
    }
    const changes = [changedKeys(this.#config, config).join(', ')];
    return { ok: true, changes, commit: () => this.#adopt(config) };
  }

  /** Applies to new connections, and to all open ones (X12). */
  #adopt(config: WorkerManagerConfig): void {
    const asksAnother = authFunctionOf(config) !== authFunctionOf(this.#config);
    const rules = admissionRules(config, this.#context.settings);
    this.#config = config;
    this.#guard.adopt(config);
    if (asksAnother) this.#doorman = doormanOf(config, this.#context);
    // Other rules are another object: a verdict that is still awaited was requested under the old ones.
    if (asksAnother || rules.allowedOrigins.join() !== this.#rules.allowedOrigins.join()) this.#rules = rules;
    this.#visits?.judge(({ isGuest, site }) => {
      if (asksAnother && isGuest) return true;
      return site !== undefined && originOffence(site, this.#rules) !== undefined;
    });
  }

  drain(): void {
    this.#listener?.stopAccepting();
  }

  stop(): void {
    this.#telemetry.stop();
    this.#stopTrimming?.();
    this.#listener?.close();
    this.#guard.close();
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
      isProtecting: router.pressure.level >= PRESSURE.protect,
      isAuthBusy: this.#doorman?.isBusy === true,
      isKnownAddress: (known) => this.#workersByAddress.has(known),
      isChannel: (id, key) => router.channels.knows(id, key),
    });
    if (!admission.ok) return this.#refused(request, address, admission, admission.text);
    const target = channelTarget(request);
    const [host, origin] = [request.header('host'), request.header('origin')];
    const visitor: Visitor = {
      address,
      isCounted,
      target: target?.ok === true ? target : undefined,
      site: origin === undefined ? undefined : { host, origin },
      grant: ANONYMOUS,
      rules: this.#rules,
    };
    if (visitor.target !== undefined || this.#doorman === undefined) return this.#welcome(admission, visitor);
    return this.#askDoorman(this.#doorman, request, admission, visitor);
  }

  /** The verdict comes later; until then the connection has its place, and frees it when it is refused or leaves. */
  #askDoorman(doorman: Doorman, request: UpgradeRequest, admission: Admitted, visitor: Visitor): PendingAdmission {
    const { path } = request;
    let hasPlace = true;
    const leave = (): void => {
      if (hasPlace) this.#leave(visitor);
      hasPlace = false;
    };
    const verdict = doorman.ask(request, visitor.address).then((answer): Admission => {
      const late = this.#context.router.isDraining ? STOPPING : visitor.rules === this.#rules ? undefined : CHANGED;
      if (answer.ok && late === undefined) return this.#welcome(admission, { ...visitor, grant: answer.grant });
      leave();
      if (late !== undefined) return this.#refused({ path }, visitor.address, late, late.text);
      const reason = answer.ok ? '' : `the auth function: ${answer.reason}`;
      return this.#refused({ path }, visitor.address, UNAUTHORIZED, reason);
    });
    return { verdict, gone: leave };
  }

  #welcome(admission: Admitted, visitor: Visitor): Admission {
    return { ...admission, connected: (socket, accepted) => this.#connected(socket, accepted, visitor) };
  }

  /** Untrusted clients choose the path and must not flood the log. `reason` is for the log alone. */
  #refused({ path }: Pick<UpgradeRequest, 'path'>, address: string, refusal: Refused, reason: string): Admission {
    const { router, logger } = this.#context;
    router.count('connections.refused', String(refusal.status));
    logger.warn('Connection refused', { address, path: path.slice(0, LOGGED_PATH_CHARS_MAX), reason });
    return refusal;
  }

  #connected(socket: PeerSocket, request: AcceptedRequest, visitor: Visitor): SocketEvents {
    const { target, grant, site, rules } = visitor;
    const isWorker = target === undefined && request.path !== TELEMETRY_PATH;
    const guard = isWorker ? this.#guard.forConnection(grant, this.#context.clock.monotonicMs()) : undefined;
    const events = this.#eventsFor(socket, request, visitor, guard);
    const visit = { socket, guard, site, isGuest: target === undefined };
    this.#visits?.add(visit);
    // The rules changed between the verdict and now.
    if (rules !== this.#rules) this.#visits?.end([visit]);
    return {
      ...events,
      closed: (code, isOverlong) => {
        this.#visits?.remove(socket);
        this.#leave(visitor);
        events.closed(code, isOverlong);
      },
    };
  }

  #eventsFor(
    socket: PeerSocket,
    { path, subprotocol }: AcceptedRequest,
    { target, address }: Visitor,
    guard: Guard | undefined,
  ): SocketEvents {
    if (target !== undefined) return this.#channelEvents(socket, subprotocol, target);
    if (path === TELEMETRY_PATH) {
      return this.#telemetry.take(socket, this.#guard.rate(this.#context.clock.monotonicMs()));
    }
    this.#countAddress(address, 1);
    const events = this.#context.connections.connect({
      socket,
      remoteAddress: address,
      subprotocol: SUBPROTOCOLS.find((name) => name === subprotocol),
      limits: this.#limits,
      guard,
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

  #addressOf(request: UpgradeRequest): string {
    return clientAddress(request.remoteAddress, request.list('x-forwarded-for'), this.#proxies);
  }

  /** Many people share the address of this machine and of proxies (PD-27). */
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
/** A refused client does not learn the reason. */
const UNAUTHORIZED: Refused = { ok: false, status: 401, text: 'UNAUTHORIZED: not let in' };
const STOPPING: Refused = { ok: false, status: 503, text: 'SHUTTING_DOWN: the engine is stopping' };
const CHANGED: Refused = { ok: false, status: 503, text: 'The rules of this port have just changed: connect again' };
const TRIM_INTERVAL_MS = 5_000;
/** In the form of the transports. */
const LOOPBACK_IPV6 = '0000:0000:0000:0000:0000:0000:0000:0001';

/** The caller of the auth function; `undefined`: there is none. */
function doormanOf(config: WorkerManagerConfig, { router, settings }: ModuleContext): Doorman | undefined {
  const { authCalls: waitingMax, askMs: askMsMax } = settings.browser;
  const authFunctionId = config.rbac === undefined ? undefined : authFunctionOf(config);
  return authFunctionId === undefined ? undefined : new Doorman({ router, authFunctionId, askMsMax, waitingMax });
}
