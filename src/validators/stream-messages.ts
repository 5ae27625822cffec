// What a stream client may send. Compiled to `src/generated`; see `worker-frames.ts` for how.

import typia from 'typia';
import type { StreamClientMessage } from '../modules/stream/client-message.ts';

export const validateStreamClientMessage = typia.createValidate<StreamClientMessage>();
