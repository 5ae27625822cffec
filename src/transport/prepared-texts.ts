// Messages that are made once and sent to many: whichever form the socket's library wants them in is made once as well.

import { textFrameOfBytes } from './server-frame.ts';

export class PreparedTexts {
  /** UTF-8. They are shared: nobody may change them. */
  readonly messages: readonly Uint8Array[];
  readonly bytes: number;
  #frames: Buffer | undefined;

  constructor(messages: readonly Uint8Array[]) {
    this.messages = messages;
    this.bytes = messages.reduce((sum, { length }) => sum + length, 0);
  }

  /** All of them as WebSocket frames, one behind the other, for who writes to TCP himself. */
  get frames(): Buffer {
    this.#frames ??= Buffer.concat(this.messages.map(textFrameOfBytes));
    return this.#frames;
  }
}
