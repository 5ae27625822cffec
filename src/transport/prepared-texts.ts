// Messages that are built once and sent to many connections: the form that the socket's library needs is built once as
// well.

import { textFrameOfBytes } from './server-frame.ts';

export class PreparedTexts {
  /** UTF-8. They are shared and must not be changed. */
  readonly messages: readonly Uint8Array[];
  readonly bytes: number;
  #frames: Buffer | undefined;

  constructor(messages: readonly Uint8Array[]) {
    this.messages = messages;
    this.bytes = messages.reduce((sum, { length }) => sum + length, 0);
  }

  /** All of them as WebSocket frames in sequence, for code that writes to TCP itself. */
  get frames(): Buffer {
    this.#frames ??= Buffer.concat(this.messages.map(textFrameOfBytes));
    return this.#frames;
  }
}
