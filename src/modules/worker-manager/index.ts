// `svc-worker-manager`: a port that workers connect to. Always loaded: without an entry there is one with defaults.

import { ANONYMOUS, type Grant } from '../../core/access/access.ts';
import { originOffence, type RequestOrigin } from '../../core/access/origin.ts';
import { CLOSE_CODES } from '../../protocol/frames/close-codes.ts';
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
import { ListeningPort } from '../listening-port.ts';
import { defineModule, type EngineModule, type ModuleContext, type Reconfiguration } from '../module.ts';
import { type Admitted, PortAdmission, type Refused, STOPPING } from '../port-admission.ts';
import { type AdmissionRules, admissionRules, admit, TELEMETRY_PATH } from './admission.ts';
import { AuthFunction } from './auth-function.ts';
import { type ChannelTarget, channelTarget } from './channel-endpoint.ts';
import {
  authFunctionOf,
  changedKeys,
  fixedKeys,
  type WorkerManagerConfig,
  workerManagerDeclaration,
} from './config.ts';
import { OpenConnections } from './open-connections.ts';
import { PortPolicy } from './port-policy.ts';
import { TelemetrySockets } from './telemetry-sockets.ts';

export const workerManagerModule = defineModule({
  declaration: workerManagerDeclaration,
  create: (context, config) => new WorkerPort(context, config),
});

type ChannelEnd = ChannelTarget & { readonly ok: true };

/** An admitted connection, until it ends. */
interface AdmittedClient {
  readonly address: string;
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
  readonly #admission: PortAdmission;
  #rules: AdmissionRules;
  readonly #policy: PortPolicy;
  #authFunction: AuthFunction | undefined;
  /** Connections of all kinds. */
  readonly #sockets = new Set<PeerSocket>();
  /** Only for ports for browsers: other connections are not checked again. */
  readonly #open: OpenConnections | undefined;
  /** Open worker connections by address; their telemetry sockets come without credentials. */
  readonly #workersByAddress = new Map<string, number>();
  readonly #telemetry: TelemetrySockets;
  readonly #listening: ListeningPort;
  #stopAdmission: (() => void) | undefined;

  constructor(context: ModuleContext, config: WorkerManagerConfig) {
    const { settings, router } = context;
    const isRestricted = config.rbac !== undefined;
    this.#context = context;
    this.#config = config;
    const { host, port, tls } = config;
    this.#listening = new ListeningPort({ module: workerManagerDeclaration.name, host, port, tls }, context);
    this.#limits = isRestricted ? settings.browser : settings.trusted;
    this.#admission = new PortAdmission({
      clock: context.clock,
      engine: router,
      limits: this.#limits,
      // Only for ports for browsers: machines use the others, and many of them share an address (PD-27).
      perAddress: isRestricted ? settings.browser.perAddress : undefined,
      trustedProxies: settings.trustedProxies,
      takeDescriptor: () => context.openFiles.take(),
      shared: context.processCounts.ofNextPort(),
    });
    this.#policy = new PortPolicy(config, settings.browser, router);
    this.#telemetry = new TelemetrySockets(context.clock, router);
    this.#rules = admissionRules(config, settings);
    this.#authFunction = authFunctionCalls(config, context);
    this.#open = isRestricted ? new OpenConnections(router) : undefined;
  }

  async start(): Promise<void> {
    const { frameBytes, outboundCloseBytes } = this.#limits;
    const { host, port } = this.#config;
    await this.#listening.open((tls) =>
      this.#context.transport.listen({
        host,
        port,
        sharing: this.#context.settings.portSharing,
        tls,
        frameBytesMax: frameBytes,
        // Twice our own limit: the library must never drop what our own accounting still allows (L5).
        bufferedBytesMax: 2 * outboundCloseBytes + frameBytes,
        admit: (request) => this.#admit(request),
        // Every admitted connection has its own handlers.
        connected: () => {
          throw new Error('A connection opened that was not admitted');
        },
      }),
    );
    this.#telemetry.start();
    this.#stopAdmission = this.#admission.start();
  }

  async reconfigure(config: WorkerManagerConfig): Promise<Reconfiguration> {
    const fixed = fixedKeys(this.#config, config);
    if (fixed.length > 0) {
      return { ok: false, reason: `${fixed.join(', ')} can only change with a new start of the engine` };
    }
    const tls = await this.#listening.reconfigure(config.tls);
    if (!tls.ok) return tls;
    const changes = [changedKeys(this.#config, config).join(', '), ...(tls.changes ?? [])];
    const commit = (): void => {
      tls.commit();
      this.#adopt(config);
    };
    return { ok: true, changes, commit };
  }

  refresh(): Promise<Reconfiguration> {
    return this.#listening.refresh();
  }

  /** Applies to new connections, and to all open ones (X12). */
  #adopt(config: WorkerManagerConfig): void {
    const asksAnother = authFunctionOf(config) !== authFunctionOf(this.#config);
    const rules = admissionRules(config, this.#context.settings);
    this.#config = config;
    this.#policy.adopt(config);
    if (asksAnother) this.#authFunction = authFunctionCalls(config, this.#context);
    // Other rules are another object: a verdict that is still awaited was requested under the old ones.
    if (asksAnother || rules.allowedOrigins.join() !== this.#rules.allowedOrigins.join()) this.#rules = rules;
    this.#open?.judge(({ isAuthenticated, site }) => {
      if (asksAnother && isAuthenticated) return true;
      return site !== undefined && originOffence(site, this.#rules) !== undefined;
    });
  }

  drain(): void {
    this.#listening.stopAccepting();
  }

  stop(): void {
    this.#telemetry.stop();
    this.#stopAdmission?.();
    // An engine that ends has closed them. These are of a port that a reload removes.
    for (const socket of [...this.#sockets]) socket.close(CLOSE_CODES.goingAway, 'the engine closes this port');
    this.#listening.close();
    this.#policy.close();
  }

  health() {
    return this.#listening.health();
  }

  listeners() {
    return [this.#listening.address(this.#config.rbac === undefined ? 'workers' : 'browsers', 'ws')];
  }

  #admit(request: UpgradeRequest): Admission | PendingAdmission {
    const { router, connections } = this.#context;
    const address = this.#admission.addressOf(request);
    const admission = admit(request, this.#rules, {
      port: this.#admission,
      address,
      isAuthBusy: this.#authFunction?.isBusy === true,
      isKnownAddress: (known) => this.#workersByAddress.has(known) || connections.isKnownElsewhere(known),
      isChannel: (id, key) => router.channels.mayConnect(id, key),
    });
    if (!admission.ok) return this.#refused(request, address, admission, admission.text);
    const target = channelTarget(request);
    const [host, origin] = [request.header('host'), request.header('origin')];
    const client: AdmittedClient = {
      address,
      target: target?.ok === true ? target : undefined,
      site: origin === undefined ? undefined : { host, origin },
      grant: ANONYMOUS,
      rules: this.#rules,
    };
    if (client.target !== undefined || this.#authFunction === undefined) return this.#admitted(admission, client);
    return this.#askAuthFunction(this.#authFunction, request, admission, client);
  }

  #askAuthFunction(
    authFunction: AuthFunction,
    request: UpgradeRequest,
    admission: Admitted,
    client: AdmittedClient,
  ): PendingAdmission {
    const { path } = request;
    const verdict = authFunction.ask(request, client.address).then((answer): Admission => {
      const late = this.#context.router.isDraining ? STOPPING : client.rules === this.#rules ? undefined : CHANGED;
      if (answer.ok && late === undefined) return this.#admitted(admission, { ...client, grant: answer.grant });
      if (late !== undefined) return this.#refused({ path }, client.address, late, late.text);
      const reason = answer.ok ? '' : `the auth function: ${answer.reason}`;
      return this.#refused({ path }, client.address, UNAUTHORIZED, reason);
    });
    return this.#admission.pending(client.address, verdict);
  }

  #admitted(admission: Admitted, client: AdmittedClient): Admission {
    return { ...admission, connected: (socket, accepted) => this.#connected(socket, accepted, client) };
  }

  /** Untrusted clients choose the path and must not flood the log. `reason` is for the log alone. */
  #refused({ path }: Pick<UpgradeRequest, 'path'>, address: string, refusal: Refused, reason: string): Admission {
    const { router, logger } = this.#context;
    router.count('connections.refused', String(refusal.status));
    logger.warn('Connection refused', { address, path: path.slice(0, LOGGED_PATH_CHARS_MAX), reason });
    return refusal;
  }

  #connected(socket: PeerSocket, request: AcceptedRequest, client: AdmittedClient): SocketEvents {
    const { target, grant, site, rules } = client;
    const isWorker = target === undefined && request.path !== TELEMETRY_PATH;
    const guard = isWorker ? this.#policy.forConnection(grant, this.#context.clock.monotonicMs()) : undefined;
    const events = this.#eventsFor(socket, request, client, guard);
    const connection = { socket, guard, site, isAuthenticated: target === undefined };
    this.#sockets.add(socket);
    this.#open?.add(connection);
    // The rules changed between the verdict and now.
    if (rules !== this.#rules) this.#open?.end([connection]);
    return {
      ...events,
      closed: (code, isOverlong) => {
        this.#sockets.delete(socket);
        this.#open?.remove(socket);
        this.#admission.leave(client.address);
        events.closed(code, isOverlong);
      },
    };
  }

  #eventsFor(
    socket: PeerSocket,
    { path, subprotocol }: AcceptedRequest,
    { target, address }: AdmittedClient,
    guard: Guard | undefined,
  ): SocketEvents {
    if (target !== undefined) return this.#channelEvents(socket, subprotocol, target);
    if (path === TELEMETRY_PATH) {
      return this.#telemetry.take(socket, this.#policy.rate(this.#context.clock.monotonicMs()));
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

  #channelEvents(socket: PeerSocket, subprotocol: string | undefined, end: ChannelEnd): SocketEvents {
    const keepsToCredit = subprotocol === SUBPROTOCOL_CHANNEL;
    const share = this.#policy.channelShare(this.#context.clock.monotonicMs());
    const events = this.#context.router.channels.connect({ ...end, socket, keepsToCredit, share });
    return {
      ...events,
      closed: (code, isOverlong) => {
        if (isOverlong === true) this.#context.router.count('connections.closed', 'message_too_big');
        events.closed(code, isOverlong);
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
/** A refused client does not learn the reason. */
const UNAUTHORIZED: Refused = { ok: false, status: 401, text: 'UNAUTHORIZED: not let in' };
const CHANGED: Refused = { ok: false, status: 503, text: 'The rules of this port have just changed: connect again' };

/** The caller of the auth function; `undefined`: there is none. */
function authFunctionCalls(config: WorkerManagerConfig, { router, settings }: ModuleContext): AuthFunction | undefined {
  const { authCalls: waitingMax, askMs: askMsMax } = settings.browser;
  const authFunctionId = config.rbac === undefined ? undefined : authFunctionOf(config);
  return authFunctionId === undefined ? undefined : new AuthFunction({ router, authFunctionId, askMsMax, waitingMax });
}
