// The engine's log lines about exports: one for each change (O2).

import type { Logger } from '../../effects/logger.ts';
import type { ExportChange } from './pipeline.ts';

const TROUBLES = {
  failing: 'Telemetry cannot be exported: the engine retries, and keeps as much as the queue holds',
  dropping: 'Telemetry is exported too slowly: the newest records are dropped',
};

export function tellExportChange(logger: Logger, { signal, address, state, reason }: ExportChange): void {
  const facts = { signal, address, ...(reason !== undefined && { reason }) };
  if (state === 'working') logger.info('Telemetry is exported again', facts);
  else logger.warn(TROUBLES[state], facts);
}
