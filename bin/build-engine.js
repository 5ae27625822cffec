// Bundles the engine: the program into `dist/engine`, the task files of its threads into `dist/workers`. As it starts,
// reading and linking some hundred small files took longer than all else together. Libraries stay outside, but for two
// that are many small files as well.

import { cpSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';
import { BUNDLED } from './bundled-packages.js';

const root = join(import.meta.dirname, '..');
const { dependencies, optionalDependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));

rmSync(join(root, 'dist/engine'), { recursive: true, force: true });
rmSync(join(root, 'dist/workers'), { recursive: true, force: true });
await Promise.all([
  bundle(['src/main.ts'], 'dist/engine'),
  // Not with the program: a thread would load the pieces that both share and it has no use for.
  bundle(
    readdirSync(join(root, 'workers')).map((task) => `workers/${task}`),
    'dist/workers',
  ),
]);
// The templates of `svc create` lie beside the program, as they are.
cpSync(join(root, 'src/cli/templates'), join(root, 'dist/engine/templates'), {
  recursive: true,
  filter: (path) => !path.includes('__pycache__'),
});

async function bundle(entries, folder) {
  await build({
    entryPoints: entries.map((entry) => join(root, entry)),
    outdir: join(root, folder),
    bundle: true,
    // What a command loads when it needs it stays a file of its own. All lie side by side: the places of other files
    // are looked up from there.
    splitting: true,
    chunkNames: '[name]-[hash]',
    external: Object.keys({ ...dependencies, ...optionalDependencies }).filter((name) => !BUNDLED.includes(name)),
    // Its form for browsers is made of modules, and so needs no `require`.
    alias: { yaml: join(root, 'node_modules/yaml/browser/index.js') },
    banner: { js: '// Holds parts of typia (MIT, Jeongho Nam) and yaml (ISC, Eemeli Aro).' },
    format: 'esm',
    platform: 'node',
    target: 'node20.12',
    logLevel: 'warning',
  });
}
