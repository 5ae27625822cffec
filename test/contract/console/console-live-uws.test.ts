import { liveContract } from './console-live.ts';

liveContract('uws');
