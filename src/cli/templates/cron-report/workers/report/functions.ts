// Counts visits; a cron trigger builds a report every ten seconds.

import { type CronTick, cron, http, ops, type SvcWorker } from 'svc-sdk';

const SCOPE = 'report';

export interface Report {
  readonly built_at: string;
  readonly visits: number;
}

export function register(svc: SvcWorker): void {
  const visit = svc.registerFunction({ id: 'report::visit', description: 'Counts a visit' }, async () => {
    await svc.state.update(SCOPE, 'visits', ops.increment('total', 1));
    return { status_code: 204, body: null };
  });

  const build = svc.registerFunction(
    { id: 'report::build', description: 'Builds the report; called on a schedule' },
    async ({ scheduled_time }: Pick<CronTick, 'scheduled_time'>, { logger }): Promise<Report> => {
      const counted = await svc.state.get<{ total: number }>(SCOPE, 'visits');
      const report = { built_at: scheduled_time, visits: counted?.total ?? 0 };
      await svc.state.set(SCOPE, 'latest', report);
      logger.info('Built the report', { ...report });
      return report;
    },
  );

  const show = svc.registerFunction({ id: 'report::show', description: 'The latest report' }, async () => ({
    body: await svc.state.get<Report>(SCOPE, 'latest'),
  }));

  svc.registerTrigger({ ...http('POST', '/visits'), function_id: visit });
  svc.registerTrigger({ ...http('GET', '/report'), function_id: show });
  // Second, minute, hour, day of month, month, day of week.
  svc.registerTrigger({ ...cron('*/10 * * * * *', { overlap: false }), function_id: build });
}
