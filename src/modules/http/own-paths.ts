// Paths that the engine answers itself if no route does (PD-59): whether it is alive and takes work.

import { PRESSURE } from '../../core/limits/pressure.ts';
import type { ModuleContext } from '../module.ts';

export const METRICS_PATH = '/metrics';
export const OWN_PATHS: readonly string[] = ['/healthz', '/readyz', METRICS_PATH];

export interface OwnAnswer {
  readonly status: number;
  readonly body: string;
}

/** `undefined`: the path is not one of these. */
export function ownAnswer(context: ModuleContext, method: string, path: string): OwnAnswer | undefined {
  if (method !== 'GET' && method !== 'HEAD') return undefined;
  if (path === '/healthz') return { status: 200, body: JSON.stringify({ status: 'ok' }) };
  if (path !== '/readyz') return undefined;
  if (context.router.isDraining) return { status: 503, body: JSON.stringify({ status: 'draining' }) };
  const { pressure } = context.router;
  if (pressure.level >= PRESSURE.protect) return { status: 503, body: JSON.stringify({ status: 'overloaded' }) };
  const unhealthy = Object.entries(context.modulesHealth())
    .filter(([, { status }]) => status === 'unhealthy')
    .map(([name]) => name);
  if (unhealthy.length === 0) return { status: 200, body: JSON.stringify({ status: 'ready' }) };
  return { status: 503, body: JSON.stringify({ status: 'unhealthy', modules: unhealthy }) };
}
