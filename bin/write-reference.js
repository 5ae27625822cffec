// `npm run docs`: writes docs/configuration.md from the schemas of the built engine.

import { writeFileSync } from 'node:fs';
import { configurationReference } from '../dist/src/config/reference.js';
import { MODULES } from '../dist/src/modules/catalogue.js';

const text = configurationReference(MODULES.map(({ declaration }) => declaration));
writeFileSync(new URL('../docs/configuration.md', import.meta.url), text);
