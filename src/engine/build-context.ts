// What a router shares with its verbs, from the settings of the file.

import type { LoadedConfig } from '../config/load.ts';
import { allowListOf } from '../core/limits/outgoing-rules.ts';
import type { ProcessCounts } from '../core/limits/process-counts.ts';
import { type Clock, systemClock } from '../effects/clock.ts';
import type { Logger } from '../effects/logger.ts';
import { OutgoingClient } from '../effects/outgoing.ts';
import { type Random, systemRandom } from '../effects/random.ts';
import { spillFilesIn } from '../effects/spill-file.ts';
import type { RouterContext } from '../router/context.ts';
import { createContext } from '../router/create-context.ts';
import { channelSettings, waitingLimits } from './settings-of-parts.ts';

export interface ContextParts {
  readonly config: Pick<LoadedConfig, 'settings'>;
  readonly logger: Logger;
  readonly clock?: Clock;
  readonly random?: Random;
}

export function buildContext(
  { config, logger, clock = systemClock, random = systemRandom }: ContextParts,
  counts: ProcessCounts,
): RouterContext {
  const { settings } = config;
  return createContext({
    settings: {
      isDropIn: settings.compat === 'iii',
      inFlightMax: settings.limits.engine.in_flight,
      waiting: waitingLimits(settings),
      outboundBytesMax: settings.limits.engine.outbound_buffers_bytes,
      logPayloads: settings.log_payloads,
      markKey: settings.mark_key,
      isInCluster: settings.cluster !== undefined,
      isOneOfRouters: counts.shared !== undefined,
      zone: settings.cluster?.zone,
    },
    channels: channelSettings(config),
    balance: settings.balance,
    clock,
    random,
    logger,
    openSpillFile: spillFilesIn(random),
    outgoing: new OutgoingClient({ listed: allowListOf(settings.outgoing.allow), clock }),
    environment: process.env,
    counts,
  });
}
