// Turns a function definition into a frame for the engine and a handler with its checks.

import type { RegisterFunction } from '../../protocol/frames/frames.ts';
import type { Untyped } from '../calls/call-types.ts';
import { SvcError } from '../calls/errors.ts';
import type { Run } from '../calls/invocation.ts';
import type { Handler } from '../worker/handler.ts';
import { OncePerMinute } from '../worker/once-per-minute.ts';
import { checkId, type Settings } from '../worker/options.ts';
import type { PlatformClock } from '../worker/platform.ts';
import type { checkHandler } from './checked-handler.ts';
import type { AnyFunctionDefinition } from './function-definition.ts';
import { jsonSchemaOf } from './schema.ts';

export interface ReadFunction {
  readonly frame: RegisterFunction<unknown>;
  readonly run: Run;
}

export function readFunction(
  definition: AnyFunctionDefinition,
  handler: Handler<Untyped, unknown> | undefined,
  settings: Settings,
  clock: PlatformClock,
  check: typeof checkHandler,
): ReadFunction {
  const { description, input, output, metadata, output_check } = definition;
  const id = checkId('registerFunction: id', definition.id);
  if (typeof handler !== 'function') {
    throw new SvcError('INVALID_ARGUMENTS', `registerFunction: the handler of ${id} is not a function`);
  }
  if (output_check !== undefined && output_check !== 'warn' && output_check !== 'error') {
    const text = `registerFunction: output_check is ${JSON.stringify(output_check)}, expected warn or error`;
    throw new SvcError('INVALID_ARGUMENTS', text);
  }
  const request_format = definition.request_format ?? (input === undefined ? undefined : jsonSchemaOf(input, 'input'));
  const response_format =
    definition.response_format ?? (output === undefined ? undefined : jsonSchemaOf(output, 'output'));
  const warnings = new OncePerMinute(clock);
  return {
    frame: {
      type: 'registerfunction',
      id,
      ...(description === undefined ? {} : { description }),
      ...(request_format === undefined ? {} : { request_format }),
      ...(response_format === undefined ? {} : { response_format }),
      ...(metadata === undefined ? {} : { metadata }),
    },
    run: check(handler, {
      functionId: id,
      input,
      output,
      warn:
        output_check === 'error'
          ? undefined
          : (problem) =>
              warnings.write((more) => settings.log('warn', more > 0 ? `${problem} (${more} more since)` : problem)),
    }),
  };
}
