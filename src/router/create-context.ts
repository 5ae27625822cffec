// What the verbs of the router share, made anew: empty tables over the given world.

import { CallTable } from '../core/call-table.ts';
import { Counters } from '../core/counters.ts';
import { balanceBy, FunctionTable } from '../core/function-table.ts';
import { PortPolicies } from '../core/kept-rights.ts';
import { Pressure } from '../core/pressure.ts';
import type { Balance } from '../core/select-worker.ts';
import { TriggerTable } from '../core/trigger-table.ts';
import type { Clock } from '../effects/clock.ts';
import type { Logger } from '../effects/logger.ts';
import type { OutgoingClient } from '../effects/outgoing.ts';
import type { Random } from '../effects/random.ts';
import type { OpenSpillFile } from '../effects/spill-file.ts';
import { createAnnouncements } from './announcements.ts';
import { ModuleExecutor } from './builtin.ts';
import { type ChannelSettings, Channels } from './channels.ts';
import { CompactPayloads } from './compact-payloads.ts';
import type { RouterContext, RouterSettings } from './context.ts';

export interface ContextParts {
  readonly settings: RouterSettings;
  readonly channels: ChannelSettings;
  readonly balance: Balance | Readonly<Record<string, Balance>>;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly openSpillFile: OpenSpillFile;
  readonly outgoing: OutgoingClient;
  readonly environment: Readonly<Record<string, string | undefined>>;
}

export function createContext({ settings, balance, ...parts }: ContextParts): RouterContext {
  const { clock, random, logger } = parts;
  const counters = new Counters();
  const context: RouterContext = {
    settings,
    clock,
    random,
    logger,
    counters,
    pressure: new Pressure(),
    functions: new FunctionTable(balanceBy(balance)),
    triggers: new TriggerTable(),
    calls: new CallTable(random.uuid().slice(9, 23), Number.parseInt(random.uuid().slice(0, 7), 16)),
    moduleExecutor: new ModuleExecutor(),
    sessions: new Map(),
    portPolicies: new PortPolicies(),
    channels: new Channels({
      settings: parts.channels,
      clock,
      random,
      logger,
      counters,
      openSpillFile: parts.openSpillFile,
    }),
    compact: new CompactPayloads(),
    outgoing: parts.outgoing,
    environment: parts.environment,
    verdicts: new Map(),
    announce: createAnnouncements(() => context),
    startedAtMs: clock.nowMs(),
    observer: undefined,
    jobTaker: undefined,
    functionListeners: new Set(),
    queueJudges: new Set(),
    queueListeners: new Set(),
    workerChanges: 0,
    isDraining: false,
    isStopped: false,
  };
  return context;
}
