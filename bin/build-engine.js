// Bundles the engine: the program and its router threads into `dist/engine`, the task files of other threads into
// `dist/workers`. Without a bundle, reading and linking some hundred small files takes most of the start time. Libraries
// are not bundled, except for two that also consist of many small files.

import { cpSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { basename, join } from 'node:path';
import { build } from 'esbuild';
import { BUNDLED } from './bundled-packages.js';

const root = join(import.meta.dirname, '..');
const { dependencies, optionalDependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));

const ROUTER = 'workers/router.ts';
const tasks = readdirSync(join(root, 'workers'))
  .map((task) => `workers/${task}`)
  .filter((task) => task !== ROUTER);

rmSync(join(root, 'dist/engine'), { recursive: true, force: true });
rmSync(join(root, 'dist/workers'), { recursive: true, force: true });
await Promise.all([
  // They share nearly all of their code.
  bundle({ main: 'src/main.ts', router: ROUTER }, 'dist/engine'),
  // Bundled apart from the program: a thread would otherwise load shared chunks that it does not use.
  bundle(Object.fromEntries(tasks.map((task) => [basename(task, '.ts'), task])), 'dist/workers'),
]);
// The templates of `svc create` are copied unchanged next to the program.
cpSync(join(root, 'src/cli/templates'), join(root, 'dist/engine/templates'), {
  recursive: true,
  filter: (path) => !path.includes('__pycache__'),
});

async function bundle(entries, folder) {
  await build({
    entryPoints: Object.fromEntries(Object.entries(entries).map(([name, file]) => [name, join(root, file)])),
    outdir: join(root, folder),
    bundle: true,
    // Dynamic imports become files of their own. All files are in one folder, because the program resolves the paths of
    // other files from there.
    splitting: true,
    chunkNames: '[name]-[hash]',
    external: Object.keys({ ...dependencies, ...optionalDependencies }).filter((name) => !BUNDLED.includes(name)),
    // Its browser build consists of ES modules, and so needs no `require`.
    alias: { yaml: join(root, 'node_modules/yaml/browser/index.js') },
    banner: {
      js:
        '// Holds parts of cron-parser (MIT, Harri Siirak), luxon (MIT, JS Foundation), msgpackr (MIT, Kris Zyp), typia ' +
        '(MIT, Jeongho Nam) and yaml (ISC, Eemeli Aro).',
    },
    format: 'esm',
    platform: 'node',
    target: 'node20.12',
    // Only `bin/files-on-the-way.js` reads them.
    sourcemap: process.env.SVC_SOURCE_MAPS === '1' ? 'linked' : false,
    logLevel: 'warning',
  });
}
