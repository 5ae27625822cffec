// Channels of a page: their code is loaded when the first message arrives that may hold a reference.

import { SvcError } from '../sdk/calls/errors.ts';
import type { Channel, Channels } from '../sdk/channels/channels.ts';
import type { ChannelsOfWorker } from '../sdk/worker/features.ts';
import type { Settings } from '../sdk/worker/options.ts';
import type { Platform } from '../sdk/worker/platform.ts';
import type { LateParts } from './late-parts.ts';

export class LateChannels implements ChannelsOfWorker {
  #channels: Channels | undefined;

  constructor(parts: LateParts, platform: Platform, settings: Settings) {
    const load = async (): Promise<void> => {
      const { Channels } = await import('../sdk/channels/channels.ts');
      this.#channels ??= new Channels(platform, settings);
    };
    parts.onReference = () => {
      if (this.#channels !== undefined) return;
      parts.awaitPart(load, (error) => settings.log('error', `cannot open channel references: ${error}`));
    };
  }

  noteReference(): void {
    this.#channels?.noteReference();
  }

  revive(value: unknown): unknown {
    return this.#channels === undefined ? value : this.#channels.revive(value);
  }

  readCreated(answer: unknown): Channel {
    if (this.#channels !== undefined) return this.#channels.readCreated(answer);
    throw new SvcError('UNREACHABLE', 'a part of svc-browser-sdk could not be loaded');
  }

  async end(): Promise<void> {
    await this.#channels?.end();
  }
}
