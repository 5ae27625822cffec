// Operands of the form `<stream>/<group>`.

import { usageFailure } from '../../kernel/failures.ts';
import type { InputNames } from '../call/call-payload.ts';

/** The first slash separates: a group may contain slashes, a stream may not. */
export function groupOperand([operand = '']: readonly string[]): { readonly stream: string; readonly group: string } {
  const slash = operand.indexOf('/');
  const [stream, group] = [operand.slice(0, slash), operand.slice(slash + 1)];
  if (slash < 1 || group === '') {
    throw usageFailure(`'${operand}' has no group.`, 'Write the stream, a slash and the group: chat/room1');
  }
  return { stream, group };
}

export const DATA_INPUT: InputNames = {
  what: 'data',
  place: 'the command line',
  hint: `In a shell, put it into single quotes: '{"text":"hello"}'`,
};
