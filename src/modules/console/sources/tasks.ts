// Bulk tasks that continue after their request was answered. They report progress until they end or are cancelled.
//
// - At most RUNNING_MAX tasks run. Of ended tasks the last KEPT_MAX are kept.

import type { Task } from '../../../console/api/queues.ts';
import type { ModuleContext } from '../../module.ts';
import { failure, failureOf, notFound } from './failure.ts';

const RUNNING_MAX = 8;
const KEPT_MAX = 200;
const AT_ONCE = 64;

export type StepOutcome = 'done' | 'failed' | 'skipped';

/** Started in order, AT_ONCE at a time: one by one, each step would wait for a sync of its own. */
export type Step = () => Promise<StepOutcome>;

export interface Work {
  readonly kind: Task['kind'];
  readonly subject: string;
  /** Null until it is known. */
  readonly total: number | null;
  /** Returns the next steps. No steps: the task is done. */
  next(count: number): Promise<readonly Step[]>;
}

interface TasksContext {
  readonly random: Pick<ModuleContext['random'], 'uuid'>;
  readonly router: Pick<ModuleContext['router'], 'nowMs'>;
}

export class Tasks {
  readonly #context: TasksContext;
  readonly #tasks = new Map<string, Task>();
  readonly #watchers = new Map<string, Set<(task: Task) => void>>();

  constructor(context: TasksContext) {
    this.#context = context;
  }

  start(work: Work): Task {
    const running = [...this.#tasks.values()].filter(({ state }) => state === 'running').length;
    if (running >= RUNNING_MAX) throw failure('OVERLOADED', `${RUNNING_MAX} tasks run already`);
    const task: Task = {
      id: this.#context.random.uuid(),
      kind: work.kind,
      subject: work.subject,
      state: 'running',
      total: work.total,
      done: 0,
      failed: 0,
      skipped: 0,
      error: null,
      started_at: this.#context.router.nowMs,
      ended_at: null,
    };
    this.#tasks.set(task.id, task);
    this.#forget();
    this.#run(task, work).catch((error: unknown) => this.#end(task, 'failed', failureOf(error).message));
    return { ...task };
  }

  get(id: string): Task {
    return { ...this.#find(id) };
  }

  /** Steps that are done are not undone. */
  cancel(id: string): Task {
    const task = this.#find(id);
    if (task.state === 'running') this.#end(task, 'cancelled', null);
    return { ...task };
  }

  /** Called as steps finish. Returns a function that stops the calls. */
  watch(id: string, watcher: (task: Task) => void): () => void {
    const watchers = this.#watchers.get(id) ?? new Set();
    this.#watchers.set(id, watchers);
    watchers.add(watcher);
    return () => {
      watchers.delete(watcher);
      if (watchers.size === 0) this.#watchers.delete(id);
    };
  }

  async #run(task: Task, work: Work): Promise<void> {
    while (task.state === 'running') {
      const steps = await work.next(AT_ONCE);
      task.total = work.total;
      // It may have been cancelled in the meantime.
      if (steps.length === 0 || task.state !== 'running') return this.#end(task, 'done', null);
      for (const outcome of await Promise.all(steps.map((step) => step()))) task[outcome]++;
      this.#notify(task);
    }
  }

  #end(task: Task, state: Task['state'], error: string | null): void {
    if (task.state !== 'running') return;
    task.state = state;
    task.error = error;
    task.ended_at = this.#context.router.nowMs;
    this.#notify(task);
  }

  #notify(task: Task): void {
    for (const watch of this.#watchers.get(task.id) ?? []) watch({ ...task });
  }

  #find(id: string): Task {
    const task = this.#tasks.get(id);
    if (task === undefined) throw notFound('Task', id);
    return task;
  }

  #forget(): void {
    for (const [id, task] of this.#tasks) {
      if (this.#tasks.size <= KEPT_MAX) return;
      if (task.state !== 'running') this.#tasks.delete(id);
    }
  }
}
