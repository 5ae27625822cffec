// `npm run docs`: writes docs/configuration.md from the schemas of the built engine, and docs/sdk.md from the doc
// comments of the built SDK.

import { writeFileSync } from 'node:fs';
import { configurationReference } from '../src/config/reference.ts';
import { MODULES } from '../src/modules/catalogue.ts';
import { sdkReference } from './sdk-reference.js';

const text = configurationReference(MODULES.map(({ declaration }) => declaration));
writeFileSync(new URL('../docs/configuration.md', import.meta.url), text);
writeFileSync(new URL('../docs/sdk.md', import.meta.url), sdkReference());
