// What the store does for streams, command by command.

import type { StoreCommand } from '../../thread/contract.ts';
import { streamGet, streamList, streamListAll, streamListGroups } from './reads.ts';
import { streamSubscribe } from './subscribe.ts';
import { streamSweep } from './sweep.ts';
import { streamAnnounce, streamDelete, streamSend, streamSet, streamUpdate } from './writes.ts';

export { SWEPT_NOTHING } from './sweep.ts';

export const STREAM_COMMANDS: readonly StoreCommand[] = [
  streamSet,
  streamGet,
  streamDelete,
  streamUpdate,
  streamList,
  streamListGroups,
  streamListAll,
  streamSend,
  streamAnnounce,
  streamSubscribe,
  streamSweep,
];
