// A worker of the SDK on a fake platform.

import { createWorker, type InternalOptions } from '../../../src/sdk/internal.ts';
import type { SvcWorker } from '../../../src/sdk/worker/svc-worker.ts';
import { FakePlatform, type FakeSocket } from './fake-platform.ts';

export interface SdkWorker {
  readonly platform: FakePlatform;
  readonly svc: SvcWorker;
}

/** A worker that dials and is not connected yet. It announces itself only if the options say so. */
export function startSdkWorker(options: InternalOptions = {}, platform = new FakePlatform()): SdkWorker {
  return { platform, svc: createWorker('ws://engine.test:49134', { announce: false, ...options }, platform) };
}

/** A worker with a connection. */
export async function connectSdkWorker(
  options: InternalOptions = {},
  platform = new FakePlatform(),
): Promise<SdkWorker & { readonly socket: FakeSocket }> {
  const worker = startSdkWorker(options, platform);
  return { ...worker, socket: await platform.connect() };
}

/** Makes a call; returns its frame and its promise, which the test reads later. */
export async function makeCall(platform: FakePlatform, svc: SvcWorker, request: Parameters<SvcWorker['trigger']>[0]) {
  const promise = svc.trigger(request);
  promise.catch(() => {});
  await platform.settle();
  const [frame] = platform.socket.take();
  return { promise, frame };
}

/** The engine answers a call. */
export function answerCall(socket: FakeSocket, invocation_id: unknown, rest: object): void {
  socket.say({ type: 'invocationresult', invocation_id, function_id: 'any', ...rest });
}
