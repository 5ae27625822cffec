// The house rules, held by a test instead of by reviewers. See ARCHITECTURE.md for the reasons of the layer table.

import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, sep } from 'node:path';
import ts from 'typescript';
import { describe, expect, test } from 'vitest';
import { circlesIn } from './support/tree/import-circles.ts';

const ROOT = join(import.meta.dirname, '..');
const LINE_CHARS_MAX = 120;
const FILE_LINES_MAX = 500;
const FUNCTION_LINES_MAX = 70;
const FOLDER_FILES_MAX = 25;

/** Layers whose types the compiled checks name. */
const VALIDATED = [
  'src/protocol',
  'src/core',
  'src/telemetry',
  'src/router',
  'src/cluster',
  'src/console/api',
  'src/modules/*',
];

/**
 * Which layer may import which. A layer is named by its place below the root; the longest name that fits a file is
 * its layer, and a module is a layer of its own.
 */
const LAYERS: Readonly<Record<string, readonly string[]>> = {
  'src/protocol': ['src/generated'],
  // Compiled checks of frames and payloads; only types come in.
  'src/validators': VALIDATED,
  'src/generated': VALIDATED,
  'src/core': ['src/protocol'],
  // Shapes only: what the engine answers, and console and command line read.
  'src/console/api': ['src/protocol', 'src/core'],
  'src/effects': ['src/protocol', 'src/core'],
  // Its threads run the same files: nothing in it may know the router.
  'src/store': ['src/protocol', 'src/core', 'src/effects', 'src/generated'],
  'src/transport': ['src/protocol', 'src/core', 'src/effects'],
  'src/router': ['src/protocol', 'src/core', 'src/effects', 'src/transport', 'src/generated'],
  // Engines that act as one.
  'src/cluster': ['src/protocol', 'src/core', 'src/effects', 'src/router', 'src/generated'],
  'src/modules/*': [
    'src/protocol',
    'src/core',
    'src/effects',
    'src/transport',
    'src/router',
    'src/store',
    'src/config',
    'src/telemetry',
    'src/generated',
    'src/console/api',
    'src/modules',
  ],
  'src/modules': [
    'src/protocol',
    'src/core',
    'src/effects',
    'src/transport',
    'src/router',
    'src/store',
    'src/console/api',
    'src/config',
    'src/generated',
    'src/modules/*',
  ],
  'src/config': ['src/protocol', 'src/core', 'src/effects', 'src/console/api'],
  'src/sdk': ['src/protocol'],
  'src/browser-sdk': ['src/protocol', 'src/sdk'],
  'src/console/server': ['src/protocol', 'src/core', 'src/effects', 'src/console/api', 'src/sdk'],
  'src/console/web': ['src/protocol', 'src/core', 'src/console/api', 'src/generated'],
  'src/cli': [
    'src/protocol',
    'src/core',
    'src/effects',
    'src/store',
    'src/config',
    'src/sdk',
    'src/console/api',
    'src/console/server',
    'src/engine',
  ],
  // Where concrete things meet.
  'src/engine': [
    'src/protocol',
    'src/core',
    'src/effects',
    'src/transport',
    'src/router',
    'src/store',
    'src/modules',
    'src/modules/*',
    'src/config',
    'src/cluster',
  ],
  // main.ts
  src: ['src/protocol', 'src/core', 'src/effects', 'src/cli'],
  // What the telemetry thread runs: stores, rollups, export.
  'src/telemetry': ['src/protocol', 'src/core', 'src/effects', 'src/store', 'src/generated'],
  // The thread of a router is an engine without stores.
  workers: ['src/protocol', 'src/core', 'src/effects', 'src/store', 'src/telemetry', 'src/engine'],
  // The engine once more, on stand-ins, for `svc-sdk/testing`.
  'src/testing-engine': [
    'src/protocol',
    'src/core',
    'src/effects',
    'src/transport',
    'src/router',
    'src/store',
    'src/modules',
    'src/config',
    'src/sdk',
    'src/engine',
  ],
};

/** Outside libraries, and the only files that may import them. */
const LIBRARIES: Readonly<Record<string, readonly string[]>> = {
  piscina: ['src/effects/threads/pool.ts', 'src/effects/threads/piscina.ts'],
  'msgpackr/pack': ['src/protocol/payload/message-pack.ts'],
  re2js: ['src/core/telemetry/logs/log-expression.ts'],
  'hdr-histogram-js': ['src/core/telemetry/metrics/aggregate.ts', 'src/cli/commands/bench/load.ts'],
  lmdb: ['src/store/kv/kv-lmdb.ts'],
  'cron-parser': ['src/modules/cron/cron-parser.ts', 'src/console/web/pages/triggers/logic/cron-runs.ts'],
  'sorted-btree': ['src/store/kv/kv-memory.ts', 'src/store/journal/change-set.ts'],
  typia: [
    'src/validators/cluster-values.ts',
    'src/validators/console-answers.ts',
    'src/validators/console-contract.ts',
    'src/validators/console-requests.ts',
    'src/validators/cron-payloads.ts',
    'src/validators/function-formats.ts',
    'src/validators/module-payloads.ts',
    'src/validators/queue-shapes.ts',
    'src/validators/telemetry-answers.ts',
    'src/validators/telemetry-payloads.ts',
    'src/validators/worker-frames.ts',
  ],
  '@redis/client': ['src/effects/redis.ts'],
  '@nats-io/transport-node': ['src/effects/nats/connection.ts'],
  '@nats-io/jetstream': ['src/effects/nats/connection.ts', 'src/effects/nats/bucket.ts'],
  '@nats-io/kv': ['src/effects/nats/connection.ts', 'src/effects/nats/bucket.ts'],
  ws: [
    'src/sdk/node/socket-node.ts',
    'src/sdk/node/platform-node.ts',
    'src/transport/node/ws-library.ts',
    'src/effects/engine-link.ts',
    'src/console/server/sockets.ts',
  ],
  // A page that uses the hooks has it already.
  react: ['src/browser-sdk/react/provider.ts', 'src/browser-sdk/react/use-stream.ts', 'src/browser-sdk/react/view.ts'],
  vite: ['src/console/vite.config.ts'],
  '@vitejs/plugin-react': ['src/console/vite.config.ts'],
  '@tailwindcss/vite': ['src/console/vite.config.ts'],
  // Types alone, but for otlp.ts, which loads them when something is exported.
  '@opentelemetry/api': ['src/telemetry/export/to-otel.ts', 'src/sdk/node/opentelemetry-node.ts'],
  '@opentelemetry/core': ['src/telemetry/export/otlp.ts'],
  '@opentelemetry/resources': ['src/telemetry/export/to-otel.ts'],
  '@opentelemetry/sdk-logs': ['src/telemetry/export/to-otel.ts'],
  '@opentelemetry/sdk-metrics': ['src/telemetry/export/to-otel.ts'],
  '@opentelemetry/sdk-trace-base': ['src/telemetry/export/to-otel.ts'],
  'rabbitmq-client': ['src/effects/rabbitmq.ts', 'src/effects/rabbit-channel.ts'],
  yaml: [
    'src/config/describe.ts',
    'src/config/document.ts',
    'src/config/edit.ts',
    'src/config/plain-tree.ts',
    'src/config/foreign/rewrite.ts',
    'src/config/yaml-syntax.ts',
    'src/cli/commands/engine/config.ts',
  ],
};

/** Time and chance come in as arguments, from these places. */
const WORLD_FILES = [
  /^src\/effects\//,
  /^src\/sdk\/(node\/platform-node|testing\/testing-clock)\.ts$/,
  /^src\/browser-sdk\/platform-browser\.ts$/,
  /^src\/console\/(?!api\/|web\/(?:pages\/\w+|kit\/\w+)\/logic\/)/,
  /^src\/cli\//,
  /^bin\//,
];
const WORLD_CALLS = /\b(Date\.now|Math\.random|setTimeout|setInterval|setImmediate|performance\.now|randomUUID)\(/;

const sources = [...listFiles('src'), ...listFiles('workers')].filter((file) => !file.startsWith('src/generated/'));
const everything = [...sources, ...listFiles('test'), ...listFiles('bench'), ...listFiles('native-bench')];

describe('imports', () => {
  test('every import follows the layer table', () => {
    const offences = sources.flatMap((file) =>
      importsOf(file)
        .filter((target) => target.startsWith('.'))
        .map((target) =>
          relative(ROOT, join(ROOT, dirname(file), target))
            .split(sep)
            .join('/'),
        )
        .filter((target) => !mayImport(file, target))
        .map((target) => `${file} imports ${target}`),
    );
    expect(offences).toEqual([]);
  });

  test('every outside library is imported only where the table says', () => {
    const offences = sources.flatMap((file) =>
      importsOf(file)
        .filter((target) => !target.startsWith('.') && !target.startsWith('node:'))
        // The page is a package of its own, whose list of libraries is its package.json.
        .filter((target) => !LIBRARIES[target]?.includes(file) && !file.startsWith('src/console/web/'))
        .map((target) => `${file} imports ${target}`),
    );
    expect(offences).toEqual([]);
  });

  test.each([
    ['src/main.ts', ['ws', 'yaml']],
    [
      'src/engine/engine.ts',
      ['@redis/client', '@nats-io/transport-node', 'rabbitmq-client', 'lmdb', 're2js', 'hdr-histogram-js', 'typia'],
    ],
  ])('%s does not load at once what many of its uses do without', (door, late) => {
    const loaded = [...reachedFrom(door)].flatMap((file) =>
      loadedBy(file)
        .filter((target) => late.includes(target))
        .map((target) => `${file} loads ${target}`),
    );
    expect(loaded).toEqual([]);
  });

  test('no command loads the socket library before it connects, nor modules before it starts an engine', () => {
    const commands = sources.filter((file) => file.startsWith('src/cli/'));
    const reached = new Set(commands.flatMap((file) => [...reachedFrom(file)]));
    const heavy = [...reached].filter(
      (file) => loadedBy(file).includes('ws') || /^src\/modules\/([^/]+\/index|catalogue)\.ts$/.test(file),
    );
    expect(heavy).toEqual([]);
  });

  test('every source file is imported by another or is a door', () => {
    const doors = [
      /^src\/main\.ts$/,
      /^src\/sdk\/(index|internal|testing|logging)\.ts$/,
      /^src\/testing-engine\/index\.ts$/,
      /^src\/browser-sdk\/(index|http|react|triggers)\.ts$/,
      /^src\/console\/(vite\.config\.ts$|server\/main\.ts$|web\/)/,
      /^src\/validators\//,
      /^workers\//,
    ];
    const imported = new Set(
      everything.flatMap((file) =>
        [...importsOf(file), ...lazyImportsOf(file)].map((target) =>
          relative(ROOT, join(ROOT, dirname(file), target))
            .split(sep)
            .join('/'),
        ),
      ),
    );
    const dead = sources.filter((file) => !imported.has(file) && !doors.some((door) => door.test(file)));
    expect(dead).toEqual([]);
  });
});

describe('circles', () => {
  test('no circle spans files, but for two that share their types inside one folder', () => {
    const graph = new Map(
      sources.map((file) => {
        const loaded = new Set(loadedBy(file));
        const targets = [...new Set(importsOf(file))].filter((target) => target.startsWith('.'));
        return [
          file,
          targets.map((target) => ({
            target: relative(ROOT, join(ROOT, dirname(file), target))
              .split(sep)
              .join('/'),
            isType: !loaded.has(target),
          })),
        ] as const;
      }),
    );
    expect(circlesIn(graph)).toEqual([]);
  });

  test.each([
    ['two files in two folders', { 'a/x': ['b/y'], 'b/y': ['a/x'] }, true, 1],
    ['two files of one folder that load each other', { 'a/x': ['a/y'], 'a/y': ['a/x'] }, false, 1],
    ['two files of one folder that share types', { 'a/x': ['a/y'], 'a/y': ['a/x'] }, true, 0],
    ['three files of one folder that share types', { 'a/x': ['a/y'], 'a/y': ['a/z'], 'a/z': ['a/x'] }, true, 1],
    ['a file that imports itself', { 'a/x': ['a/x'] }, true, 1],
    ['a line of files', { 'a/x': ['a/y'], 'a/y': ['a/z'], 'a/z': [] }, false, 0],
  ])('finds the circle in %s, if it is one', (_, graph, isType, count) => {
    const imports = Object.entries(graph).map(
      ([file, targets]) => [file, (targets as readonly string[]).map((target) => ({ target, isType }))] as const,
    );
    expect(circlesIn(new Map(imports))).toHaveLength(count);
  });
});

describe('text', () => {
  test('no file is too long, and no line but a sentence in a test', () => {
    const offences = everything.flatMap((file) => {
      const lines = read(file).split('\n');
      const isLong = (line: string): boolean => line.length > LINE_CHARS_MAX && !line.includes('biome-ignore');
      const long = lines.flatMap((line, index) =>
        isLong(line) && !file.startsWith('test/') ? [`${file}:${index + 1}`] : [],
      );
      return lines.length > FILE_LINES_MAX ? [`${file} has ${lines.length} lines`, ...long] : long;
    });
    expect(offences).toEqual([]);
  });

  test('nine of ten source files stay below 300 lines', () => {
    const lengths = sources.map((file) => read(file).split('\n').length).sort((a, b) => a - b);
    expect(lengths[Math.floor(lengths.length * 0.9)]).toBeLessThan(300);
  });

  test('no function of the sources is too long', () => {
    expect(sources.flatMap((file) => longFunctions(file))).toEqual([]);
  });

  test('nothing unfinished and nothing silenced is committed', () => {
    const words = /\b(TODO|FIXME|XXX)\b|@ts-(ignore|expect-error)|\.only\(/;
    // A type test says with `expect-error` what must not compile; this file names what it looks for.
    const offences = everything
      .filter((file) => !file.endsWith('.test-d.ts') && file !== 'test/tidy.test.ts')
      .filter((file) => words.test(read(file)));
    expect(offences).toEqual([]);
  });

  test('time and chance are asked for only where the world begins', () => {
    const offences = sources
      .filter((file) => !WORLD_FILES.some((place) => place.test(file)))
      .filter((file) => WORLD_CALLS.test(withoutComments(read(file))));
    expect(offences).toEqual([]);
  });
});

describe('folders', () => {
  test('none has to be scrolled', () => {
    const folders = new Map<string, number>();
    for (const place of ['src', 'workers', 'test', 'bench', 'docs']) {
      for (const entry of readdirSync(join(ROOT, place), { recursive: true, withFileTypes: true })) {
        const folder = relative(ROOT, entry.parentPath).split(sep).join('/');
        if (!entry.isFile() || /(^|\/)(node_modules|dist|generated|templates)(\/|$)/.test(folder)) continue;
        folders.set(folder, (folders.get(folder) ?? 0) + 1);
      }
    }
    const crowded = [...folders].filter(([, count]) => count > FOLDER_FILES_MAX);
    expect(crowded).toEqual([]);
  });
});

describe('the package', () => {
  test('holds nothing at the top level that the owner did not name', () => {
    const named = new Set(
      (
        'package.json tsconfig.json src native-bench workers test bench svc-config.yaml docs bin README.md ' +
        'ARCHITECTURE.md CONTRIBUTING.md CHANGELOG.md DECISIONS.md SECURITY.md LICENSE package-lock.json biome.json ' +
        'vitest.config.ts tsconfig.build.json node_modules dist data'
      ).split(' '),
    );
    const strangers = readdirSync(ROOT).filter((name) => !name.startsWith('.') && !named.has(name));
    expect(strangers).toEqual([]);
  });

  test('uses every dependency that it names', () => {
    const packages = [
      'package.json',
      'src/sdk/package.json',
      'src/browser-sdk/package.json',
      'src/console/package.json',
    ];
    const named = packages.flatMap((file) => {
      const { dependencies, devDependencies, optionalDependencies, peerDependencies } = JSON.parse(read(file));
      return Object.keys({ ...dependencies, ...devDependencies, ...optionalDependencies, ...peerDependencies });
    });
    const texts = [...everything, ...listFiles('bin', /\.js$/), ...listFiles('src', /\.css$/)]
      .filter((file) => file !== 'test/tidy.test.ts')
      .map(read)
      .join('\n');
    const isUsed = (name: string): boolean =>
      TOOLS.has(name) || [`'${name}'`, `'${name}/`, `"${name}"`].some((text) => texts.includes(text));
    // Types belong to a library.
    const unused = named.filter((name) => !isUsed(name.replace(/^@types\//, '')) && name !== '@types/node');
    expect(unused).toEqual([]);
  });

  test('installs every binary of uWebSockets.js also where npm itself runs on another Node', () => {
    // npm skips an optional package in silence when its `engines` do not fit the installing Node. The lock file must
    // not repeat them: `npm run lock` takes them out again after every change of dependencies.
    const lock: { packages: Record<string, { name?: string; integrity?: string; engines?: unknown }> } = JSON.parse(
      read('package-lock.json'),
    );
    const binaries = Object.values(lock.packages).filter(({ name }) => name?.startsWith('@uwsjs/'));
    expect(binaries.map(({ name }) => name)).toEqual(['22', '24', '26'].map((major) => `@uwsjs/linux-x64-${major}`));
    for (const binary of binaries) {
      expect(binary).toHaveProperty('integrity');
      expect(binary).not.toHaveProperty('engines');
    }
  });
});

/** Run as a command. */
const TOOLS = new Set(['@biomejs/biome']);

function listFiles(folder: string, kind = /\.tsx?$/): string[] {
  return readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .map((name) => `${folder}/${name.split(sep).join('/')}`)
    .filter((name) => kind.test(name) && !/\/(node_modules|dist|templates)\//.test(name))
    .sort();
}

function read(file: string): string {
  return readFileSync(join(ROOT, file), 'utf8');
}

const IMPORT = /^(?:import|export)\b[^;]*?\bfrom\s+'([^']+)'|^import\s+'([^']+)'/gms;

function importsOf(file: string, text = read(file)): string[] {
  return [...text.matchAll(IMPORT)].map((match) => match[1] ?? match[2] ?? '');
}

/** Of what `importsOf` finds, what is still there when the types are gone. */
function loadedBy(file: string): string[] {
  return importsOf(file, read(file).replace(/^(?:import|export) type\b[^;]*;/gms, ''));
}

/** The file and every file that is loaded with it. */
function reachedFrom(door: string): Set<string> {
  const reached = new Set([door]);
  for (const file of reached) {
    for (const target of loadedBy(file)) {
      if (!target.startsWith('.') || target.includes('/generated/')) continue;
      reached.add(
        relative(ROOT, join(ROOT, dirname(file), target))
          .split(sep)
          .join('/'),
      );
    }
  }
  return reached;
}

/** Files loaded on demand: `import('./x.ts')`. */
function lazyImportsOf(file: string): string[] {
  return [...read(file).matchAll(/\bimport\('([^']+)'\)/g)].map((match) => match[1] ?? '');
}

function mayImport(file: string, target: string): boolean {
  const from = layerOf(file);
  const to = layerOf(target);
  const isSameModule = from !== 'src/modules/*' || roomOf(file) === roomOf(target) || to !== from;
  const allowed = from === to ? isSameModule : (LAYERS[from]?.includes(to) ?? false);
  return allowed;
}

/** The module that a file belongs to, also from a folder inside it. */
function roomOf(file: string): string | undefined {
  return /^src\/modules\/([^/]+)\//.exec(file)?.[1];
}

function layerOf(file: string): string {
  const module = /^src\/modules\/[^/]+\//.test(file);
  if (module) return 'src/modules/*';
  const [top, second, third] = file.split('/');
  if (top !== 'src') return top ?? '';
  if (second === 'console') return `src/console/${third}`;
  return third === undefined ? 'src' : `src/${second}`;
}

function longFunctions(file: string): string[] {
  const source = ts.createSourceFile(file, read(file), ts.ScriptTarget.Latest, true);
  const found: string[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isFunctionLike(node)) {
      const first = source.getLineAndCharacterOfPosition(node.getStart(source)).line;
      const last = source.getLineAndCharacterOfPosition(node.end).line;
      if (last - first + 1 > FUNCTION_LINES_MAX) found.push(`${file}:${first + 1} has ${last - first + 1} lines`);
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
}

function withoutComments(text: string): string {
  return text.replace(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, '');
}
