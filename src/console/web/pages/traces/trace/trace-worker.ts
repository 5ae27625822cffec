// The thread that holds an open trace: all work that grows with its number of spans is done here (console rule 5).

import { TraceFileProblem } from '../logic/trace-file.ts';
import { type TraceReplies, type TraceRequest, TraceSession } from '../logic/trace-session.ts';

export interface WorkerRequest {
  readonly id: number;
  readonly request: TraceRequest;
}

export type WorkerReply =
  | { readonly id: number; readonly reply: TraceReplies[keyof TraceReplies] }
  | { readonly id: number; readonly problem: string };

const NS_PER_MS = 1e6;
const session = new TraceSession(() => Date.now() * NS_PER_MS);

addEventListener('message', ({ data }: MessageEvent<WorkerRequest>) => postMessage(answer(data)));

function answer({ id, request }: WorkerRequest): WorkerReply {
  try {
    return { id, reply: session.handle(request) };
  } catch (error) {
    if (error instanceof TraceFileProblem) return { id, problem: error.message };
    return { id, problem: `The trace cannot be read: ${error instanceof Error ? error.message : String(error)}` };
  }
}
