import { expect, test } from 'vitest';
import { findTextMember } from '../../../../src/protocol/json/json-member.ts';

const find = (text: string): string | undefined => findTextMember(Buffer.from(text), 'stream_name');

test('[wire 3.1] a text is found at any position and with any spelling of its name', () => {
  expect(find('{"stream_name":"a"}')).toBe('a');
  expect(find(' { "data" : [1,{"stream_name":"no"}] , "stream_name" : "é\\n" , "x" : 1 }')).toBe('é\n');
  expect(find('{"stream\\u005fname":"a"}')).toBe('a');
});

test('[wire 3.1] a member that is missing or not a text, or bytes that are not an object, give undefined', () => {
  const nothing = [
    '',
    '[]',
    'null',
    '{}',
    '{"stream_name":1}',
    '{"other":"a"}',
    '{"stream_name"',
    '{"a":tru,"stream_name":"x"}',
  ];
  for (const text of nothing) expect(find(text), text).toBe(undefined);
});
