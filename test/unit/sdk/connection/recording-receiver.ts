// Records what a wire reads from messages of the engine.

import type { ErrorBody } from '../../../../src/protocol/frames/frames.ts';
import type { DeliveredCall, FrameReceiver, ReceivedFrame } from '../../../../src/sdk/wire/wire.ts';

export class RecordingReceiver implements FrameReceiver {
  readonly heard: unknown[][] = [];

  /** The kinds of the received events, in order. */
  get kinds(): unknown[] {
    return this.heard.map(([kind]) => kind);
  }

  onCall(call: DeliveredCall, payload: unknown): void {
    this.heard.push(['call', { ...call }, payload]);
  }

  onBrokenCall(call: DeliveredCall, error: ErrorBody): void {
    this.heard.push(['broken call', { ...call }, error]);
  }

  onResult(number: number, result: unknown): void {
    this.heard.push(['result', number, result]);
  }

  onError(number: number, error: unknown, traceparent: string | undefined): void {
    this.heard.push(['error', number, error, traceparent]);
  }

  onFrame(frame: ReceivedFrame): void {
    this.heard.push(['frame', frame]);
  }

  onUnreadable(problem: string): void {
    this.heard.push(['unreadable', problem]);
  }
}
