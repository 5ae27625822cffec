// Creates what the verbs of the router share: empty tables over the given outside world.

import { PortPolicies } from '../core/access/kept-rights.ts';
import { Reservations } from '../core/access/reservations.ts';
import { CallTable } from '../core/calls/call-table.ts';
import { CompactPayloads } from '../core/calls/compact-payloads.ts';
import type { Balance } from '../core/calls/select-worker.ts';
import { type SharedWaiting, WaitingCalls } from '../core/calls/waiting-calls.ts';
import { Pressure } from '../core/limits/pressure.ts';
import { ProcessCounts } from '../core/limits/process-counts.ts';
import { Counters } from '../core/registry/counters.ts';
import { balanceBy, FunctionTable } from '../core/registry/function-table.ts';
import { TriggerTable } from '../core/registry/trigger-table.ts';
import { QuietTraces } from '../core/telemetry/logs/quiet-traces.ts';
import type { Clock } from '../effects/clock.ts';
import type { Logger } from '../effects/logger.ts';
import type { OutgoingClient } from '../effects/outgoing.ts';
import type { Random } from '../effects/random.ts';
import type { OpenSpillFile } from '../effects/spill-file.ts';
import { MessagePackForm } from '../protocol/payload/message-pack.ts';
import { ModuleExecutor } from './builtin.ts';
import { PayloadSizeCheck } from './calls/payload-size-check.ts';
import { servingFreedPlaces } from './calls/serve-waiting.ts';
import { type ChannelSettings, Channels } from './channels/channels.ts';
import type { RouterContext, RouterSettings } from './context.ts';
import { createAnnouncements } from './registrations/announcements.ts';
import { holderOf, IdClaims } from './restricted/id-claims.ts';
import { PayloadShare } from './restricted/payload-share.ts';
import { Session } from './session/session.ts';
import { ForeignKeys } from './triggers/foreign-keys.ts';
import { restrictedProvider } from './triggers/triggers.ts';

/** Names of at most 256 bytes each, which the tables of functions and triggers hold as well. */
const RESERVATIONS_MAX = 100_000;

export interface ContextOptions {
  readonly settings: RouterSettings;
  readonly channels: ChannelSettings;
  readonly balance: Balance | Readonly<Record<string, Balance>>;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly openSpillFile: OpenSpillFile;
  readonly outgoing: OutgoingClient;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** What all routers of the process have together. */
  readonly counts?: ProcessCounts;
}

export function createContext({ settings, balance, ...options }: ContextOptions): RouterContext {
  const { clock, random, logger, counts = new ProcessCounts() } = options;
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
    reservations: new Reservations(RESERVATIONS_MAX),
    calls: new CallTable(random.uuid().slice(9, 23), Number.parseInt(random.uuid().slice(0, 7), 16), counts),
    repeatable: new Map(),
    afterCalls: new Map(),
    ...{ remoteEngines: new Set(), otherRouters: new Set() },
    ...{ furtherRouters: new Map(), flushRouters: undefined },
    ...{ home: undefined, ownPlaces: new Map() },
    ...{ whenOthersKnow: undefined, afterTurnOfOthers: undefined },
    ...{ unproven: new Map(), moves: new Set(), announceInheritance: undefined },
    waiting: new WaitingCalls(settings.waiting, waitingOf(counts)),
    placeFreed: servingFreedPlaces(() => context),
    moduleExecutor: new ModuleExecutor(),
    sessions: new Map(),
    portPolicies: new PortPolicies(),
    channels: new Channels({
      settings: options.channels,
      home: settings.isInCluster || settings.isOneOfRouters ? random.uuid() : undefined,
      clock,
      random,
      logger,
      counters,
      ...{ openSpillFile: options.openSpillFile, counts },
    }),
    payloadShare: new PayloadShare(counts.bytesOf('restricted payloads')),
    unread: unreadOf(counts),
    compact: new CompactPayloads(),
    messagePack: new MessagePackForm(),
    payloadSizes: new PayloadSizeCheck({ clock, logger, counters }),
    outgoing: options.outgoing,
    environment: options.environment,
    foreignKeys: settings.isDropIn ? new ForeignKeys(logger) : undefined,
    verdicts: new Map(),
    triggerClaims: new IdClaims(clock, (id) => {
      const owner = context.triggers.binding(id)?.owner;
      if (owner instanceof Session) return holderOf(owner);
      return owner?.access && { prefix: owner.access.grant.functionPrefix };
    }),
    typeClaims: new IdClaims(clock, (id) => {
      const provider = context.triggers.type(id)?.provider;
      return provider?.kind === 'worker' ? holderOf(provider.executor) : provider && restrictedProvider(provider);
    }),
    announce: createAnnouncements(() => context),
    startedAtMs: clock.nowMs(),
    quietTraces: new QuietTraces(settings.markKey ?? random.token() + random.token()),
    observer: undefined,
    jobTaker: undefined,
    ...{ functionListeners: new Set(), moduleListeners: new Set() },
    workerListeners: new Set(),
    queueJudges: new Set(),
    queueListeners: new Set(),
    engineId: '',
    workerChanges: 0,
    isDraining: false,
    isMoving: false,
    isStopped: false,
  };
  return context;
}

function waitingOf(counts: ProcessCounts): SharedWaiting {
  return { calls: counts.of('waiting calls'), bytes: counts.bytesOf('waiting calls') };
}

function unreadOf(counts: ProcessCounts): RouterContext['unread'] {
  return {
    trusted: counts.bytesOf('unread of workers'),
    restricted: counts.bytesOf('unread of browsers'),
    most: counts.bytesOf('most unread of a connection'),
  };
}
