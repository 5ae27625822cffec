// The second worker of a trace: the shop calls it, and it calls the state.

import { ops, type SvcWorker } from 'svc-sdk';

export function register(svc: SvcWorker): void {
  const locate = svc.registerFunction(
    { id: 'warehouse::locate', description: 'Returns the shelf of an item' },
    ({ sku }: { sku: string }) => ({ shelf: sku.charCodeAt(0) % 10 }),
  );

  svc.registerFunction(
    { id: 'warehouse::reserve', description: 'Reserves an item' },
    async ({ sku }: { sku: string }, { logger }) => {
      if (sku === 'broken') {
        logger.error('It fell down', { sku });
        throw new Error('It fell down');
      }
      const { shelf } = await locate.trigger({ sku });
      await svc.state.update('reserved', sku, ops.increment('count', 1));
      logger.info('Reserved', { sku, shelf });
      return { shelf };
    },
  );
}
