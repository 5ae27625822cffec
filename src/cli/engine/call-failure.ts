// The text of a failed call (CLI-22): what failed, its code, the place in the handler, and the trace.

import { shownCode } from '../../protocol/frames/errors.ts';
import type { SvcError } from '../../sdk/calls/errors.ts';
import { CliFailure, exitCodeOfError } from '../kernel/failures.ts';

const FRAMES_MAX = 3;

export interface CallFailureContext {
  readonly functionId: string;
  readonly verbose: boolean;
  /** The engine has the trace of the call. */
  readonly hasTrace?: boolean;
}

export function callFailure(
  error: SvcError,
  { functionId, verbose, hasTrace = false }: CallFailureContext,
): CliFailure {
  const { code, message, reason, trace_id: traceId, retryable } = error;
  const frames = stackFrames(error.remote?.stack, verbose);
  const seen = hasTrace && traceId !== undefined ? `Show its trace with: svc trace show ${traceId} --logs` : undefined;
  const hint = hintFor(error) ?? seen;
  const labels = [`code ${shownCode(code)}`, ...(reason === undefined ? [] : [`reason ${reason}`])];
  if (traceId !== undefined) labels.push(`trace ${traceId}`);
  return new CliFailure({
    code,
    message: `${functionId} failed: ${message}`,
    exitCode: exitCodeOfError(code, reason),
    lines: [...frames.map((frame) => `  ${frame}`), `  ${labels.join('  ')}`],
    details: {
      function_id: functionId,
      retryable,
      ...(reason === undefined ? {} : { reason }),
      ...(traceId === undefined ? {} : { trace_id: traceId }),
      ...(frames.length === 0 ? {} : { stack: frames }),
    },
    ...(hint === undefined ? {} : { hint }),
  });
}

/** What to do next, if known. */
function hintFor({ code, reason, message, function_id: id = '' }: SvcError): string | undefined {
  // The worker is in the configuration already: adding it again would be refused.
  if (code === 'WORKER_FAILED') {
    const [, name = '<name>'] = /^The worker ([\w.-]+) /.exec(message) ?? [];
    return `Correct it, then run: svc worker start ${name}. The engine also retries it by itself.`;
  }
  if (id === 'worker::add' && message.startsWith('There is no file')) {
    return 'Give a folder with a worker project, or create one with: svc worker init <dir>';
  }
  if (reason === 'QUEUE_NOT_FOUND' && message.includes('no queue module')) return missingModule('svc-queue');
  if (reason === 'QUEUE_NOT_FOUND') {
    return 'List the queues with: svc queue list. Add a queue under queue_configs of svc-queue.';
  }
  const module = code === 'function_not_found' ? MODULES.find(([prefix]) => id.startsWith(prefix))?.[1] : undefined;
  return module === undefined ? undefined : missingModule(module);
}

function missingModule(name: string): string {
  return `The engine runs without that module. Add it: svc worker add ${name}, or an entry with name: ${name}`;
}

/** Prefixes of the functions of optional modules. */
const MODULES: readonly (readonly [prefix: string, module: string])[] = [
  ['state::', 'svc-state'],
  ['stream::', 'svc-stream'],
  ['engine::queue::', 'svc-queue'],
  ['svc::queue::', 'svc-queue'],
  ['engine::events::', 'svc-pubsub'],
];

/** The frames of the handler's code, without libraries and Node, unless all frames were requested. */
export function stackFrames(stack: string | undefined, everything: boolean): string[] {
  const frames = (stack ?? '')
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line.startsWith('at '));
  if (everything) return frames;
  return frames
    .filter((frame) => !/node_modules|node:|<anonymous>|\/sdk\/dist\/sdk\//.test(frame))
    .slice(0, FRAMES_MAX);
}
