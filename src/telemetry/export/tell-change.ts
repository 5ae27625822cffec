// What the log of the engine says of exports: one line for each change (O2).

import type { Logger } from '../../effects/logger.ts';
import type { ExportChange } from './pipeline.ts';

const TROUBLES = {
  failing: 'Telemetry cannot be exported: it is tried again, and kept as far as the queue goes',
  dropping: 'Telemetry is exported too slowly: the newest is dropped',
};

export function tellExportChange(logger: Logger, { signal, address, state, reason }: ExportChange): void {
  const facts = { signal, address, ...(reason !== undefined && { reason }) };
  if (state === 'working') logger.info('Telemetry is exported again', facts);
  else logger.warn(TROUBLES[state], facts);
}
