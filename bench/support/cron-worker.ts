// The worker part of the cron benchmark: triggers that are all due each second, and how late each tick was.

import { registerWorker } from '../../src/sdk/dist/sdk/index.js';

const [url = '', count = '0', seconds = '0', warmUpSeconds = '0'] = process.argv.slice(2);

const svc = registerWorker(url, { worker_name: 'cron-bench' });
const latenessMs: number[] = [];
const tick = svc.registerFunction('bench::tick', ({ scheduled_time }: { scheduled_time: string }) => {
  latenessMs.push(Date.now() - Date.parse(scheduled_time));
  return null;
});
for (let index = 0; index < Number(count); index++) {
  svc.registerTrigger({ type: 'cron', function_id: tick, config: { expression: '* * * * * *' }, metadata: { index } });
}
await svc.ready();
await new Promise((resolve) => setTimeout(resolve, Number(warmUpSeconds) * 1_000));
latenessMs.length = 0;
await new Promise((resolve) => setTimeout(resolve, Number(seconds) * 1_000));
process.stdout.write(JSON.stringify(latenessMs));
process.exit(0);
