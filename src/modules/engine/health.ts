// `engine::health::check`: is the engine well, which version, which modules with which live adapter (K2).

import type { BuiltinDefinition } from '../../router/builtin.ts';
import type { ModuleContext, ModuleHealth } from '../module.ts';

export function healthCheck({ router, version, modulesHealth }: ModuleContext): BuiltinDefinition {
  return {
    id: 'engine::health::check',
    description: 'Reports the health of the engine and of each of its modules',
    handle() {
      const modules = modulesHealth();
      // Whoever asks in order to send work here should send it elsewhere.
      const routerStatus = router.isDraining ? 'unhealthy' : 'healthy';
      return {
        status: worst([...Object.values(modules), { status: routerStatus }]),
        components: {
          modules,
          router: { status: routerStatus, details: { draining: router.isDraining, counters: router.counters() } },
        },
        timestamp: router.nowMs,
        version,
      };
    },
  };
}

function worst(modules: ModuleHealth[]): ModuleHealth['status'] {
  if (modules.some(({ status }) => status === 'unhealthy')) return 'unhealthy';
  return modules.some(({ status }) => status === 'degraded') ? 'degraded' : 'healthy';
}
