// The topic `health`: changes of modules, adapters, overload and alerts. A new watcher first gets the state of all of
// them.

import type { HealthItem } from '../../../console/api/live.ts';
import type { ConsoleContext } from '../console-context.ts';
import { overloadOf } from '../routes/system-routes.ts';
import { Feed } from './feed.ts';

const INTERVAL_MS = 1_000;

export class HealthFeed extends Feed {
  /** The items as they were last sent, by subject. */
  readonly #known = new Map<string, { readonly text: string; readonly item: HealthItem }>();

  constructor(context: ConsoleContext) {
    super(context, INTERVAL_MS);
  }

  protected override begin(): void {
    this.#known.clear();
  }

  protected override first(): readonly HealthItem[] {
    return [...this.#known.values()].map(({ item }) => item);
  }

  protected override async look(): Promise<readonly HealthItem[]> {
    const changed: HealthItem[] = [];
    for (const item of [...this.#ofEngine(), ...(await this.#ofAlerts())]) {
      const key = 'name' in item ? `${item.kind} ${item.name}` : item.kind;
      const text = JSON.stringify(item);
      if (this.#known.get(key)?.text === text) continue;
      this.#known.set(key, { text, item });
      changed.push(item);
    }
    return changed;
  }

  #ofEngine(): HealthItem[] {
    const { module } = this.context;
    const { level, reasons } = overloadOf(this.context);
    const modules = Object.entries(module.modulesHealth());
    const words = modules.map(([, { status }]) => status);
    const status = words.includes('unhealthy') ? 'unhealthy' : words.includes('degraded') ? 'degraded' : 'healthy';
    return [
      { kind: 'engine', status, draining: module.router.isDraining },
      { kind: 'overload', level, reasons: level === 0 ? [] : reasons },
      ...modules.map(([name, { status: word, adapter, details }]): HealthItem => {
        const reason = troubleOf(details);
        return { kind: 'module', name, status: word, adapter: adapter ?? null, reason };
      }),
    ];
  }

  async #ofAlerts(): Promise<HealthItem[]> {
    const { builtIns } = this.context;
    if (!builtIns.has('engine::alerts::list')) return [];
    const { alerts } = await builtIns.ask('engine::alerts::list', {});
    return alerts.map(({ name, firing, current_value }) => ({
      kind: 'alert',
      name,
      firing,
      value: firing ? current_value : null,
    }));
  }
}

function troubleOf(details: unknown): string | null {
  if (typeof details !== 'object' || details === null || !('trouble' in details)) return null;
  return typeof details.trouble === 'string' ? details.trouble : null;
}
