// One worker of a project: installed, started, watched, restarted, stopped.
//
// It carries out what `core/workers/supervision.ts` decides, on a real process, and keeps its output.
// Invariants:
//   - At most one process runs at a time: a new one is started when the one before has ended, and of several launches
//     only the latest continues after an await.
//   - The last request wins: a start that is requested while the process is stopping follows the stop.
//   - A waiting caller is answered once, also when the worker is stopped meanwhile.

import { OutputLines } from '../../core/workers/output-lines.ts';
import { CrashHistory, type SupervisedState } from '../../core/workers/supervision.ts';
import type { ProjectWorker } from '../../core/workers/worker-manifest.ts';
import type { Clock } from '../../effects/clock.ts';
import type { Logger } from '../../effects/logger.ts';
import { type StartedProcess, startProcess } from '../../effects/worker-process.ts';
import type { DescribedWorker } from './answers.ts';
import { needsInstall, type Project, projectOf, rememberInstall } from './project.ts';

export interface SupervisionContext {
  readonly clock: Clock;
  readonly logger: Logger;
  /** Resolves a relative path. */
  readonly base: (path: string) => string;
  /** Variables of every process in addition to the engine's own environment (PD-24). */
  readonly environment: (name: string) => Readonly<Record<string, string | undefined>>;
}

/** How long a process may take to end when the engine itself ends. */
const LAST_STOP_MS = 2_000;

export class SupervisedWorker {
  readonly entry: ProjectWorker;
  readonly output = new OutputLines();
  readonly #context: SupervisionContext;
  readonly #predecessorsEnd: Promise<unknown> | undefined;
  readonly #crashes = new CrashHistory();
  #state: SupervisedState = 'stopped';
  #wanted: 'running' | 'stopped' = 'stopped';
  /**
   * The number of the latest launch; a stop raises it as well, so that a launch in progress sees that it is cancelled.
   */
  #launches = 0;
  /** The last line before the latest launch. */
  #launchedAfterLine = 0;
  #process: StartedProcess | undefined;
  #project: Project | undefined;
  #cancelTimer: (() => void) | undefined;
  #startedAtMs: number | undefined;
  #startedMonotonicMs = 0;
  #restarts = 0;
  /** The latest launch failed before a process ran. */
  #isUnstartable = false;
  #lastEnd: string | undefined;
  #waiting: (() => void)[] = [];

  /** Nothing is started until `predecessorsEnd` resolves: until earlier workers of the same name have ended. */
  constructor(entry: ProjectWorker, context: SupervisionContext, predecessorsEnd?: Promise<unknown>) {
    this.entry = entry;
    this.#context = context;
    this.#predecessorsEnd = predecessorsEnd;
  }

  get state(): SupervisedState {
    return this.#state;
  }

  /** It should run and could not be started. */
  get isMissing(): boolean {
    return this.#wanted === 'running' && this.#isUnstartable;
  }

  get launchedAfterLine(): number {
    return this.#launchedAfterLine;
  }

  /** Why it is not running, in words. */
  get problem(): string | undefined {
    return this.#state === 'running' ? undefined : this.#lastEnd;
  }

  describe(): DescribedWorker {
    const { manifest } = this.#project ?? {};
    const usage = this.#process?.usage();
    return {
      name: this.entry.name,
      path: this.entry.path,
      state: this.#state,
      ...(manifest?.version !== undefined && { version: manifest.version }),
      ...(manifest?.description !== undefined && { description: manifest.description }),
      ...(manifest !== undefined && { kind: manifest.runtime.kind, tags: manifest.tags }),
      pid: this.#process?.pid ?? null,
      started_at: this.#startedAtMs === undefined ? null : new Date(this.#startedAtMs).toISOString(),
      restarts: this.#restarts,
      last_end: this.#lastEnd ?? null,
      rss_bytes: usage?.rssBytes ?? null,
      cpu_ms: usage?.cpuMs ?? null,
    };
  }

  /**
   * Resolves when its process runs. Rejects with the reason when it cannot be installed or started; it is then retried
   * as after an end.
   */
  async start(): Promise<void> {
    this.#wanted = 'running';
    this.#crashes.forget();
    this.#cancelTimer?.();
    if (this.#state === 'stopping') await this.#ended();
    const isUnderWay = this.#state === 'starting' || this.#state === 'installing' || this.#state === 'running';
    if (this.#wanted === 'running' && !isUnderWay) await this.#launch('start');
  }

  /** Resolves when its process has ended; after `drainMs` it is killed. */
  async stop(drainMs: number): Promise<void> {
    this.#wanted = 'stopped';
    this.#launches++;
    this.#cancelTimer?.();
    if (this.#process === undefined) {
      this.#become('stopped');
      return;
    }
    this.#become('stopping');
    this.#process.terminate();
    if (drainMs <= 0) this.#process.kill();
    const cancel = this.#context.clock.after(drainMs, () => {
      this.#say(`did not end within ${drainMs} ms and is killed`);
      this.#process?.kill();
    });
    await this.#ended();
    cancel();
  }

  /** The engine ends. */
  async abandon(): Promise<void> {
    await this.stop(LAST_STOP_MS);
  }

  /** A failed launch is retried, like a process that ended; a start also rejects, because a caller waits for it. */
  async #launch(kind: 'start' | 'restart'): Promise<void> {
    const launch = ++this.#launches;
    const isCurrent = (): boolean => launch === this.#launches;
    this.#launchedAfterLine = this.output.lastSeq;
    this.#become('starting');
    await this.#predecessorsEnd;
    if (!isCurrent()) return;
    try {
      const project = await projectOf(this.entry, this.#context.base(this.entry.path));
      if (!isCurrent()) return;
      this.#project = project;
      if (project.manifest.name !== this.entry.name) {
        throw new Error(`Its manifest names it '${project.manifest.name}', the configuration '${this.entry.name}'.`);
      }
      const isIncomplete = await needsInstall(project);
      if (isIncomplete && isCurrent()) await this.#install(project, isCurrent);
      if (isCurrent()) this.#run(project);
    } catch (error) {
      if (!isCurrent()) return;
      this.#lastEnd = error instanceof Error ? error.message : String(error);
      this.#say(this.#lastEnd);
      this.#isUnstartable = true;
      this.#startLater('could not be started', this.#lastEnd, 0);
      if (kind === 'start') throw error;
    }
  }

  async #install(project: Project, isCurrent: () => boolean): Promise<void> {
    const { install } = project.commands;
    if (install === undefined) return;
    this.#become('installing');
    this.#say(`installing: ${install}`);
    const end = await new Promise<{ isClean: boolean; cause: string }>((resolve) => {
      this.#process = startProcess(
        // Scripts of packages run here, which must not get the engine's token.
        { command: install, cwd: project.folder, env: { ...this.#environment(project), SVC_TOKEN: undefined } },
        { line: (stream, text) => this.#note(stream, text), ended: resolve },
      );
    });
    this.#process = undefined;
    if (!isCurrent()) this.#become('stopped');
    this.#wakeWaiting();
    if (!isCurrent()) return;
    if (!end.isClean) throw new Error(`Its dependencies could not be installed: '${install}' ended with ${end.cause}.`);
    await rememberInstall(project);
  }

  #run(project: Project): void {
    const { clock } = this.#context;
    this.#become('running');
    this.#isUnstartable = false;
    this.#startedAtMs = clock.nowMs();
    this.#startedMonotonicMs = clock.monotonicMs();
    this.#say(`starting: ${project.commands.start}`);
    this.#process = startProcess(
      { command: project.commands.start, cwd: project.folder, env: this.#environment(project) },
      {
        line: (stream, text) => this.#note(stream, text),
        ended: ({ cause }) => this.#afterEnd(cause),
      },
    );
  }

  #afterEnd(cause: string): void {
    const { clock } = this.#context;
    this.#process = undefined;
    this.#startedAtMs = undefined;
    this.#lastEnd = cause;
    this.#say(`ended: ${cause}`);
    // A caller that wants it to run again meanwhile waits for this end, and then starts it.
    if (this.#state === 'stopping') {
      this.#become('stopped');
      this.#wakeWaiting();
      return;
    }
    this.#startLater('ended', cause, clock.monotonicMs() - this.#startedMonotonicMs);
    this.#wakeWaiting();
  }

  #startLater(what: 'ended' | 'could not be started', cause: string, ranMs: number): void {
    const { clock, logger } = this.#context;
    const worker = this.entry.name;
    const next = this.#crashes.ended(clock.monotonicMs(), ranMs);
    if (next.verb === 'give_up') {
      this.#become('crash_loop');
      this.#say(`${what}, for the tenth time within five minutes; when it is fixed, run: svc worker start ${worker}`);
      logger.error(`A worker ${what}, ten times within five minutes, and is not retried`, { worker, cause });
    } else {
      this.#become('waiting_to_restart');
      logger.warn(`A worker ${what} and is started again`, { worker, cause, delay_ms: next.delayMs });
      if (this.#isUnstartable) this.#say(`${what}; next attempt in ${next.delayMs / 1_000} s`);
      this.#cancelTimer = clock.after(next.delayMs, () => {
        this.#restarts++;
        void this.#launch('restart');
      });
    }
  }

  #environment({ manifest }: Project): Record<string, string | undefined> {
    const { name, env, config } = this.entry;
    return {
      ...process.env,
      ...manifest.env,
      ...env,
      ...this.#context.environment(name),
      ...(config !== undefined && { SVC_WORKER_CONFIG: JSON.stringify(config) }),
    };
  }

  #become(state: SupervisedState): void {
    this.#state = state;
  }

  #note(stream: 'stdout' | 'stderr' | 'svc', text: string): void {
    this.output.add(stream, text, this.#context.clock.nowMs());
  }

  #say(text: string): void {
    for (const line of text.split('\n')) this.#note('svc', line);
  }

  #ended(): Promise<void> {
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  #wakeWaiting(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const wake of waiting) wake();
  }
}
