// Connections on the restricted port of an attacked engine.

import { RawWorker, type RawWorkerOptions } from '../support/clients/raw-worker.ts';

interface Engine {
  readonly urls: readonly string[];
}

/** The address of the second worker port of the configuration, which is the restricted one. */
export function restrictedUrl({ urls }: Engine): string {
  const [, url] = urls.filter((address) => address.startsWith('ws:'));
  if (url === undefined) throw new Error('The engine has no restricted port');
  return url;
}

export function connectPage(engine: Engine, options?: RawWorkerOptions): Promise<RawWorker> {
  return RawWorker.connect(restrictedUrl(engine), options);
}

/** Cuts the connection, as when a program is killed. */
export async function leave(worker: RawWorker): Promise<void> {
  worker.socket.terminate();
  await worker.closed;
}
