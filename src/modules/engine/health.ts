// `engine::health::check`: the health and version of the engine, and its modules with the adapter in use (K2).

import { areScarce, type OpenFilesCount } from '../../effects/open-files.ts';
import { processUse } from '../../effects/process-figures.ts';
import type { BuiltinDefinition } from '../../router/builtin.ts';
import type { RouterPort } from '../../router/port.ts';
import type { ModuleContext, ModuleHealth } from '../module.ts';

export function healthCheck({ router, version, modulesHealth, openFiles }: ModuleContext): BuiltinDefinition {
  return {
    id: 'engine::health::check',
    description: 'Reports the health of the engine and of each of its modules',
    handle() {
      const health = modulesHealth();
      const modules = Object.fromEntries(Object.entries(health).map(([name, one]) => [name, withoutComponents(one)]));
      // A load balancer that reads this should send its work elsewhere.
      const routerStatus = router.isDraining ? 'unhealthy' : HEALTH_UNDER_PRESSURE[router.pressure.level];
      const files = filesHealth(openFiles.count());
      return {
        status: worst([...Object.values(modules), { status: routerStatus }, ...(files === undefined ? [] : [files])]),
        components: {
          ...Object.assign({}, ...Object.values(health).map(({ components }) => components)),
          modules,
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
  const { name, cause } = router.pressure;
  const { cpuSeconds, residentBytes } = processUse();
  return {
    draining: router.isDraining,
    pressure: { level: name, cause: cause ?? null },
    process: { cpu_seconds: cpuSeconds, resident_bytes: residentBytes },
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
