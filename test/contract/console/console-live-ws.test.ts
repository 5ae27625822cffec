import { liveContract } from './console-live.ts';

liveContract('ws');
