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
for (const folder of ['dist/engine', 'dist/workers']) refuseWideText(join(root, folder));
// The templates of `svc create` are copied unchanged next to the program.
cpSync(join(root, 'src/cli/templates'), join(root, 'dist/engine/templates'), {
  recursive: true,
  filter: (path) => !path.includes('__pycache__'),
});

/** One character beyond Latin-1, as in a regular expression, makes V8 keep two bytes for each of the file's text. */
function refuseWideText(folder) {
  for (const file of readdirSync(folder)) {
    const wide = /[\u0100-\uffff]/.exec(readFileSync(join(folder, file), 'utf8'));
    if (wide === null) continue;
    throw new Error(`${join(folder, file)} has the character ${wide[0]}: write it as an escape, \\u and four digits`);
  }
}

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
    alias: {
      // Its browser build consists of ES modules, and so needs no `require`.
      yaml: join(root, 'node_modules/yaml/browser/index.js'),
      // The file that has all that we use. The others load twice as much, and the data of Node for all languages.
      'hdr-histogram-js': join(root, 'node_modules/hdr-histogram-js/dist/HistogramBuilder.js'),
    },
    banner: {
      js:
        '// Holds parts of cron-parser (MIT, Harri Siirak), hdr-histogram-js (BSD-2-Clause, Alexandre Victoor), luxon ' +
        '(MIT, JS Foundation), msgpackr (MIT, Kris Zyp), pako (MIT, Vitaly Puzrin and Andrei Tuputcyn), base64-js (MIT, ' +
        'Jameson Little), the loader of AssemblyScript (Apache-2.0, Daniel Wirtz), sorted-btree (MIT, David Piepgrass), ' +
        'typia (MIT, Jeongho Nam) and yaml (ISC, Eemeli Aro).',
    },
    format: 'esm',
    platform: 'node',
    target: 'node20.12',
    // Comments of libraries are a third of the text. Names and lines stay, so that a stack trace can be read.
    minifyWhitespace: true,
    lineLimit: 160,
    // Only `bin/files-on-the-way.js` reads them.
    sourcemap: process.env.SVC_SOURCE_MAPS === '1' ? 'linked' : false,
    logLevel: 'warning',
  });
}
