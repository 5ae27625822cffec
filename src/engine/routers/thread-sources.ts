// Sources of telemetry: each router counts its connections from 1, and the telemetry thread needs one number for each.

/** More routers than a process has. */
const ROUTERS_MAX = 1024;

/** `router`: from 1. The first router has its own numbers. */
export function sourceOfRouter(router: number, source: number): number {
  return -(source * ROUTERS_MAX + router);
}

/** `undefined`: a connection of the first router. */
export function ownSource(source: number): { readonly router: number; readonly source: number } | undefined {
  if (source >= 0) return undefined;
  return { router: -source % ROUTERS_MAX, source: Math.floor(-source / ROUTERS_MAX) };
}
