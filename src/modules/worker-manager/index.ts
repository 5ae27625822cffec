// `svc-worker-manager`: a port that workers connect to. Always loaded: without an entry there is one with defaults.

import { ANONYMOUS, type Grant } from '../../core/access.ts';
import { AddressBlocks } from '../../core/address-block.ts';
import { AddressGate } from '../../core/address-gate.ts';
import { clientAddress } from '../../core/client-address.ts';
import { ConnectionGate } from '../../core/connection-gate.ts';
import { hostInUrl, isLoopbackHost, originOffence, type RequestOrigin } from '../../core/origin.ts';
import { PRESSURE } from '../../core/pressure.ts';
import { SUBPROTOCOL_CHANNEL, SUBPROTOCOLS } from '../../protocol/subprotocols.ts';
import type { Guard } from '../../router/guard.ts';
import type {
  AcceptedRequest,
  Admission,
  Listener,
  PeerSocket,
  PendingAdmission,
  SocketEvents,
  UpgradeRequest,
} from '../../transport/socket.ts';
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

/** Somebody who was let in, as far as the port has to know him until he leaves. */
interface Visitor {
  readonly address: string;
  /** Whether his address takes places at its gate. */
  readonly isCounted: boolean;
  readonly target: ChannelEnd | undefined;
  /** The page that he comes from. */
  readonly site: RequestOrigin | undefined;
  readonly grant: Grant;
  /** The rules that he was let in by. */
  readonly rules: AdmissionRules;
}

class WorkerPort implements EngineModule<WorkerManagerConfig> {
  readonly functions = [];
  readonly triggerTypes = [];
  readonly #context: ModuleContext;
  #config: WorkerManagerConfig;
  readonly #limits: ModuleContext['settings']['trusted'];
  readonly #gate: ConnectionGate;
  /** Only of ports for browsers: others are used by machines, and many share an address (decisions 27). */
  readonly #addressGate: AddressGate | undefined;
  readonly #proxies: AddressBlocks;
  #rules: AdmissionRules;
  readonly #guard: PortGuard;
  #doorman: Doorman | undefined;
  /** Only of ports for browsers: nobody else is judged twice. */
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
    this.#gate = new ConnectionGate(this.#limits, () => context.openFiles.take());
    this.#addressGate = isRestricted ? new AddressGate(settings.browser.perAddress) : undefined;
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
      // Everyone who is let in comes with what is to be called instead.
      connected: () => {
        throw new Error('Somebody connected who was not let in');
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

  /** For whoever comes from now on, and for everybody who is in (X12). */
  #adopt(config: WorkerManagerConfig): void {
    const asksAnother = authFunctionOf(config) !== authFunctionOf(this.#config);
    const rules = admissionRules(config, this.#context.settings);
    this.#config = config;
    this.#guard.adopt(config);
    if (asksAnother) this.#doorman = doormanOf(config, this.#context);
    // Other rules are another object: whoever waits for a verdict was asked about under the old ones.
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

  /** The verdict comes later; until then the newcomer has his place, and gives it back if he is refused or leaves. */
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

  /** Strangers choose the path, and the log is not theirs to fill. `reason` is for the log alone. */
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
    // They changed between the verdict and now.
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
const CHANGED: Refused = { ok: false, status: 503, text: 'The rules of this port have just changed: connect again' };
const TRIM_INTERVAL_MS = 5_000;
/** As the transports write it. */
const LOOPBACK_IPV6 = '0000:0000:0000:0000:0000:0000:0000:0001';

/** Who asks about newcomers; `undefined`: nobody does. */
function doormanOf(config: WorkerManagerConfig, { router, settings }: ModuleContext): Doorman | undefined {
  const { authCalls: waitingMax, askMs: askMsMax } = settings.browser;
  const authFunctionId = config.rbac === undefined ? undefined : authFunctionOf(config);
  return authFunctionId === undefined ? undefined : new Doorman({ router, authFunctionId, askMsMax, waitingMax });
}
