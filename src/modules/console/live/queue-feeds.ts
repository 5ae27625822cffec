// The topics `queues` and `queue:<name>`: counts and jobs, polled once a second.

import type { JobChange } from '../../../console/api/live.ts';
import type { JobRow, QueueRow } from '../../../console/api/queues.ts';
import type { ConsoleContext } from '../console-context.ts';
import { deadRow } from '../routes/dead-letters.ts';
import { jobRow, knownQueue, listQueues, queueRow } from '../routes/queue-routes.ts';
import { Feed } from './feed.ts';

const INTERVAL_MS = 1_000;
/** Jobs that are followed one by one: the first of the queue, and the newest dead letters. */
const JOBS_FOLLOWED = 200;
const LETTERS_FOLLOWED = 50;

/** A queue is sent when its counts changed. */
export class QueuesFeed extends Feed {
  readonly #known = new Map<string, { readonly text: string; readonly row: QueueRow }>();

  constructor(context: ConsoleContext) {
    super(context, INTERVAL_MS);
  }

  protected override begin(): void {
    this.#known.clear();
  }

  protected override first(): readonly QueueRow[] {
    return [...this.#known.values()].map(({ row }) => row);
  }

  protected override async look(): Promise<readonly QueueRow[]> {
    const rows = await listQueues(this.context);
    return rows.filter((row) => {
      const text = JSON.stringify(row);
      if (this.#known.get(row.name)?.text === text) return false;
      this.#known.set(row.name, { text, row });
      return true;
    });
  }
}

export class JobsFeed extends Feed {
  readonly #queue: string;
  #known: Map<string, JobRow> | undefined;
  /** Counts jobs that came and went between two polls. */
  #moved = '';

  constructor(context: ConsoleContext, queue: string) {
    super(context, INTERVAL_MS);
    this.#queue = queue;
  }

  protected override begin(): void {
    this.#known = undefined;
  }

  protected override async look(): Promise<readonly JobChange[]> {
    const queue = await knownQueue(this.context, this.#queue);
    const figures = queueRow(queue);
    const moved = `${queue.enqueued_total} ${queue.finished_total} ${queue.failed_total} ${queue.paused}`;
    const present = new Map((await this.#jobs(figures)).map((row) => [row.id, row] as const));
    const at = this.context.module.router.nowMs;
    const known = this.#known;
    const hasMoved = moved !== this.#moved;
    this.#known = present;
    this.#moved = moved;
    // The list that a watcher read before it subscribed may already be outdated.
    if (known === undefined) return [{ at, id: null, job: null, figures }];
    const changed = [...present.values()].filter((row) => {
      const before = known.get(row.id);
      return before === undefined || before.state !== row.state || before.attempt !== row.attempt;
    });
    const gone = [...known.keys()].filter((id) => !present.has(id));
    const changes = [
      ...changed.map((job) => ({ at, id: job.id, job, figures })),
      ...gone.map((id) => ({ at, id, job: null, figures })),
    ];
    return changes.length === 0 && hasMoved ? [{ at, id: null, job: null, figures }] : changes;
  }

  /** Where the adapter does not report which jobs wait, only dead letters are followed. */
  async #jobs({ not_told: secrets }: QueueRow): Promise<JobRow[]> {
    const { builtIns } = this.context;
    const queue = this.#queue;
    const asked = { queue, limit: LETTERS_FOLLOWED, payloads: false };
    const [jobs, letters] = await Promise.all([
      secrets.includes('jobs') ? { items: [] } : builtIns.ask('engine::queue::jobs', { queue, limit: JOBS_FOLLOWED }),
      builtIns.ask('engine::queue::dlq_messages', asked),
    ]);
    return [...jobs.items.map(jobRow), ...letters.map((letter) => deadRow(queue, letter))];
  }
}
