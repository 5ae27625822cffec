// What an operator asks of the engine as a whole: its health and version, with its modules and the adapter of each
// (K2); a backup of its stores; a reload of its configuration (K1). And the creation of channels.

import { isAbsolute } from 'node:path';
import { Refusal, readPayload } from '../../core/calls/refusal.ts';
import { areScarce, type OpenFilesCount } from '../../effects/open-files.ts';
import { processUse } from '../../effects/process-figures.ts';
import { validateBackup, validateChannelsCreate } from '../../generated/module-payloads.ts';
import { SMALL_PAYLOAD_LIMITS } from '../../protocol/frames/limits.ts';
import { assertTrusted, type BuiltinDefinition } from '../../router/builtin.ts';
import type { RouterPort } from '../../router/port.ts';
import { BackupRefused } from '../../store/directory/backup.ts';
import type { ModuleContext, ModuleHealth } from '../module.ts';
import type { EngineAnswers } from './answers.ts';

export function healthCheck({ router, version, modulesHealth, openFiles }: ModuleContext): BuiltinDefinition {
  return {
    id: 'engine::health::check',
    description: 'Reports the health of the engine and of each of its modules',
    handle(): EngineAnswers['engine::health::check'] {
      const health = modulesHealth();
      const modules = Object.fromEntries(Object.entries(health).map(([name, one]) => [name, withoutComponents(one)]));
      // A load balancer that reads this should send its work elsewhere.
      const routerStatus = router.isDraining ? 'unhealthy' : HEALTH_UNDER_PRESSURE[router.worstPressure.level];
      const files = filesHealth(openFiles.count());
      return {
        status: worst([...Object.values(modules), { status: routerStatus }, ...(files === undefined ? [] : [files])]),
        components: {
          ...Object.assign({}, ...Object.values(health).map(({ components }) => components)),
          // Clients of `iii` look for the status here.
          modules: router.isDropIn ? { ...modules, status: worst(Object.values(modules)) } : modules,
          router: { status: routerStatus, details: routerDetails(router) },
          ...(files !== undefined && { open_files: files }),
        },
        timestamp: router.nowMs,
        version,
      };
    },
  };
}

const HEALTH_UNDER_PRESSURE = ['healthy', 'healthy', 'degraded', 'unhealthy'] as const;

function routerDetails(router: RouterPort) {
  const { name, cause } = router.worstPressure;
  const { cpuSeconds, residentBytes } = processUse();
  const { routers } = router;
  return {
    draining: router.isDraining,
    pressure: { level: name, cause: cause ?? null },
    process: { cpu_seconds: cpuSeconds, resident_bytes: residentBytes },
    ...(routers.length > 1 && {
      routers: routers.map(({ connections, callsInFlight, pressure }) => ({
        connections,
        calls_in_flight: callsInFlight,
        pressure: pressure.name,
      })),
    }),
    counters: router.counters(),
  };
}

/** Connections are refused before the last file descriptor is used, so few are left for new ones (guarantees 4). */
function filesHealth(files: OpenFilesCount | undefined): ModuleHealth | undefined {
  if (files === undefined) return undefined;
  if (!areScarce(files)) return { status: 'healthy', details: files };
  const reason = `${files.open} of ${files.max} files are open, so new connections are refused: raise ulimit -n`;
  return { status: 'degraded', details: { ...files, reason } };
}

function withoutComponents({ components: _shown, ...health }: ModuleHealth): ModuleHealth {
  return health;
}

function worst(modules: ModuleHealth[]): ModuleHealth['status'] {
  if (modules.some(({ status }) => status === 'unhealthy')) return 'unhealthy';
  return modules.some(({ status }) => status === 'degraded') ? 'degraded' : 'healthy';
}

/** Called by `svc backup` on a running engine. */
export function storesBackup({ stores }: ModuleContext): BuiltinDefinition {
  const id = 'engine::stores::backup';
  return {
    id,
    description: 'Copies every store that lies in a directory into a new folder of this machine',
    async handle(payload, call): Promise<EngineAnswers[typeof id]> {
      // It writes to any path: only for callers that may do everything.
      assertTrusted(id, call);
      const { path } = readPayload(id, validateBackup, payload);
      if (!isAbsolute(path)) throw new Refusal('INVALID_ARGUMENTS', `Field 'path' must be absolute, found '${path}'`);
      try {
        return await stores.backUp(path);
      } catch (error) {
        throw error instanceof BackupRefused ? new Refusal('INVALID_ARGUMENTS', error.message) : error;
      }
    },
  };
}

export function configReload({ configuration }: ModuleContext): BuiltinDefinition {
  const id = 'engine::config::reload';
  return {
    id,
    description: 'Reads the configuration file again; changes everything that it says, or nothing',
    async handle(_payload, call): Promise<EngineAnswers[typeof id]> {
      assertTrusted(id, call);
      const report = await configuration.reload();
      if (!report.ok) throw new Refusal('BAD_REQUEST', report.problems.join('\n'));
      return { changes: report.changes };
    },
  };
}

export function channelsCreate(router: RouterPort): BuiltinDefinition {
  const id = 'engine::channels::create';
  return {
    id,
    description: 'Creates a channel for bytes and text, and returns a reference to each of its ends',
    payloadLimits: SMALL_PAYLOAD_LIMITS,
    handle: (payload, { rights }): EngineAnswers[typeof id] =>
      router.channels.create(readPayload(id, validateChannelsCreate, payload).buffer_size, rights),
  };
}
