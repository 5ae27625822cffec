// How the place of streams is typed: `<stream>/<group>`.

import type { InputNames } from './call-payload.ts';
import { usageFailure } from './failures.ts';

/** The first slash divides: a group may hold more of them, a stream none. */
export function groupOperand([operand = '']: readonly string[]): { readonly stream: string; readonly group: string } {
  const slash = operand.indexOf('/');
  const [stream, group] = [operand.slice(0, slash), operand.slice(slash + 1)];
  if (slash < 1 || group === '') {
    throw usageFailure(`'${operand}' names no group.`, 'Write the stream, a slash and the group: chat/room1');
  }
  return { stream, group };
}

export const DATA_INPUT: InputNames = {
  what: 'data',
  place: 'the command line',
  hint: `In a shell, put it into single quotes: '{"text":"hello"}'`,
};
