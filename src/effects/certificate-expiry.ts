// When a certificate is close to its end.

import type { Certificate } from './certificates.ts';

const HOUR_MS = 60 * 60 * 1_000;
const DAY_MS = 24 * HOUR_MS;
const WARN_MS = 30 * DAY_MS;

/**
 * `undefined`: it is not close. Certificates that live for days are renewed on their last days: for them it is the last
 * third of their life.
 */
export function expiryWarning(
  { validFromMs, expiresAtMs, certFile }: Pick<Certificate, 'validFromMs' | 'expiresAtMs' | 'certFile'>,
  nowMs: number,
): string | undefined {
  const leftMs = expiresAtMs - nowMs;
  if (leftMs > Math.min(WARN_MS, (expiresAtMs - validFromMs) / 3)) return undefined;
  const at = new Date(expiresAtMs).toISOString();
  if (leftMs <= 0) return `The certificate in '${certFile}' expired at ${at}: no client can connect. Replace the file`;
  const left = leftMs > DAY_MS ? `${Math.floor(leftMs / DAY_MS)} days` : `${Math.ceil(leftMs / HOUR_MS)} hours`;
  return `The certificate in '${certFile}' expires in ${left}, at ${at}. Replace the file; the engine reads it again`;
}
