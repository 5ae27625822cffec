// `svc-http`: HTTP requests become calls of functions.

import { PRESSURE } from '../../core/limits/pressure.ts';
import { ListeningPort } from '../listening-port.ts';
import { defineModule, type EngineModule, type ModuleContext, type Reconfiguration } from '../module.ts';
import { type HttpConfig, httpDeclaration } from './config.ts';
import { HttpPort } from './port.ts';

const CHECK_INTERVAL_MS = 250;

export const httpModule = defineModule({
  declaration: httpDeclaration,
  create: (context, config) => new HttpModule(context, config),
});

/** Settings that the port and its routes were created with. */
const FIXED = ['host', 'port', 'ignore_trailing_slash'] as const;

class HttpModule implements EngineModule<HttpConfig> {
  readonly functions = [];
  readonly triggerTypes;
  readonly #context: ModuleContext;
  #config: HttpConfig;
  readonly #port: HttpPort;
  readonly #listening: ListeningPort;
  #stopChecking: (() => void) | undefined;

  constructor(context: ModuleContext, config: HttpConfig) {
    this.#context = context;
    this.#config = config;
    const { host, port, tls } = config;
    this.#listening = new ListeningPort({ module: httpDeclaration.name, host, port, tls }, context);
    this.#port = new HttpPort(context, config);
    this.triggerTypes = [this.#port.routes.triggerType];
  }

  async start(): Promise<void> {
    const { transport, settings, router, clock, random, processCounts } = this.#context;
    const { host, port } = this.#config;
    await this.#listening.open((tls) =>
      transport.serve({
        host,
        port,
        sharing: settings.portSharing,
        tls,
        connectionsMax: settings.http.connectionsMax,
        sharedConnections: processCounts.of('http connections'),
        request: (exchange) => this.#port.handle(exchange),
        unread: this.#port.unread,
        fraction: random.fraction,
        sockets: this.#port.sockets,
        closesAfterAnswer: () => router.pressure.level >= PRESSURE.protect,
        refused: (status) => router.count('http.refused', String(status)),
      }),
    );
    this.#stopChecking = clock.every(CHECK_INTERVAL_MS, () => this.#port.check());
  }

  async reconfigure(config: HttpConfig): Promise<Reconfiguration> {
    const fixed = FIXED.filter((key) => config[key] !== this.#config[key]);
    if (fixed.length > 0) {
      return { ok: false, reason: `${fixed.join(', ')} can only change with a new start of the engine` };
    }
    const tls = await this.#listening.reconfigure(config.tls);
    if (!tls.ok) return tls;
    return {
      ok: true,
      ...(tls.changes && { changes: tls.changes }),
      commit: () => {
        tls.commit();
        this.#config = config;
        this.#port.adopt(config);
      },
    };
  }

  refresh(): Promise<Reconfiguration> {
    return this.#listening.refresh();
  }

  drain(): void {
    this.#listening.stopAccepting();
  }

  stop(): void {
    this.#stopChecking?.();
    this.#port.stop();
    this.#listening.close();
  }

  health() {
    return this.#listening.health();
  }

  listeners() {
    return [this.#listening.address('http', 'http')];
  }
}
