// `svc-stream` on a further router: a port for clients. Its functions, triggers and store are those of the first one.

import type { EngineModule, ModuleContext, Reconfiguration } from '../../module.ts';
import type { StreamConfig } from '../config.ts';
import { StreamPort } from '../port.ts';
import type { HomeStreams } from './home-streams.ts';

export class FurtherStreams implements EngineModule<StreamConfig> {
  readonly functions = [];
  readonly triggerTypes = [];
  readonly #port: StreamPort;

  constructor(context: ModuleContext, config: StreamConfig, home: HomeStreams) {
    this.#port = new StreamPort(context, config, {
      gate: home,
      read: (subject, since, done) => home.read(subject, since, done),
      watch: (group, watcher) => home.watch(group, watcher),
    });
    home.subscribersOf = (group) => this.#port.subscribersOf(group);
  }

  start(): Promise<void> {
    return this.#port.start();
  }

  reconfigure(config: StreamConfig): Promise<Reconfiguration> {
    return this.#port.reconfigure(config);
  }

  refresh(): Promise<Reconfiguration> {
    return this.#port.refresh();
  }

  drain(): void {
    this.#port.drain();
  }

  stop(): void {
    this.#port.stop();
  }

  health() {
    return this.#port.health();
  }

  listeners() {
    return this.#port.listeners();
  }
}
