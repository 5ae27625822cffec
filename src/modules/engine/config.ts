// `svc-engine-functions` has nothing to configure; the entry may be listed for completeness.

import { fields } from '../../core/fields.ts';

export const engineFunctionsConfig = fields({});
