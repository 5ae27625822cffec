import { engineVersion } from '../../../effects/version.ts';
import { type EngineConnection, withEngine } from '../../engine/connection.ts';
import { type Context, defineCommand } from '../../kernel/command.ts';
import { CliFailure, EXIT } from '../../kernel/failures.ts';
import { CONNECTION_FLAGS } from '../../kernel/flags.ts';
import { formatPairs, stripUnsafe } from '../../text/display-text.ts';
import { isRecord, recordsIn, textIn } from '../../text/records.ts';

interface Versions {
  readonly cli: string;
  readonly node: string;
  /** Null when no engine answers at the address. */
  readonly engine: { readonly version: string; readonly address: string } | null;
  readonly workers: readonly { readonly name: string; readonly version: string; readonly runtime: string }[];
}

export const version = defineCommand({
  name: 'version',
  summary: 'Show the versions of the command line, the engine and workers.',
  details: ['An engine that cannot be reached is not an error. The command makes no other network request.'],
  flags: { ...CONNECTION_FLAGS },
  formats: ['table', 'json', 'jsonl'],
  examples: [
    { line: 'svc version', shows: 'Command line, engine and the SDK of every connected worker.' },
    { line: 'svc --version', shows: 'Only the command line, without asking the engine.' },
  ],
  async run(context) {
    const { output } = context;
    const versions = await readVersions(context);
    output.printDocument(versions, formatVersions(versions));
    if (versions.engine === null) output.note('No engine answers. To start one, see: svc start --help');
    for (const warning of findMismatches(versions)) output.warn(warning);
    return EXIT.done;
  },
});

/** Warnings for versions that differ from that of the engine, or, without an engine, of the command line. */
export function findMismatches({ cli, engine, workers }: Versions): string[] {
  if (engine === null) return [];
  const warnings: string[] = [];
  if (engine.version !== cli) warnings.push(`The engine is ${engine.version}, this command line is ${cli}.`);
  const others = workers.filter((worker) => worker.version !== engine.version);
  for (const sdkVersion of new Set(others.map((worker) => worker.version))) {
    const names = others.filter((worker) => worker.version === sdkVersion).map((worker) => worker.name);
    warnings.push(`The engine is ${engine.version}; SDK ${sdkVersion} is used by ${names.join(', ')}.`);
  }
  return warnings;
}

async function readVersions(context: Context<typeof CONNECTION_FLAGS>): Promise<Versions> {
  const own = { cli: engineVersion(), node: process.versions.node };
  try {
    return await withEngine(context, async (engine) => ({ ...own, ...(await readEngine(engine)) }));
  } catch (error) {
    if (error instanceof CliFailure && error.report.exitCode === EXIT.unreachable) {
      return { ...own, engine: null, workers: [] };
    }
    throw error;
  }
}

async function readEngine(engine: EngineConnection): Promise<Pick<Versions, 'engine' | 'workers'>> {
  const [health, list] = await Promise.all([
    engine.call('engine::health::check', {}),
    engine.call('engine::workers::list', {}),
  ]);
  const workers = recordsIn(list, 'workers')
    .filter((worker) => worker.internal !== true && textIn(worker, 'version') !== '')
    .map((worker) => ({
      name: textIn(worker, 'name') || textIn(worker, 'id'),
      version: textIn(worker, 'version'),
      runtime: textIn(worker, 'runtime'),
    }));
  return {
    engine: { version: isRecord(health) ? textIn(health, 'version') : '', address: engine.address },
    workers,
  };
}

function formatVersions({ cli, node, engine, workers }: Versions): string {
  const rows: [string, string][] = [
    ['svc', `${cli} on Node ${node}`],
    ['engine', engine === null ? 'not reachable' : `${engine.version} at ${engine.address}`],
    ...workers.map((worker): [string, string] => [
      `worker ${worker.name}`,
      `SDK ${worker.version} (${worker.runtime || 'unknown runtime'})`,
    ]),
  ];
  return formatPairs(rows.map(([label, text]) => [stripUnsafe(label), stripUnsafe(text)])).join('\n');
}
