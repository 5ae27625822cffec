import { expect, test } from 'vitest';
import { findTextMember } from '../../../src/protocol/json-member.ts';

const find = (text: string): string | undefined => findTextMember(Buffer.from(text), 'stream_name');

test('[wire 3.1] a text is found wherever it stands, and however its name is written', () => {
  expect(find('{"stream_name":"a"}')).toBe('a');
  expect(find(' { "data" : [1,{"stream_name":"no"}] , "stream_name" : "é\\n" , "x" : 1 }')).toBe('é\n');
  expect(find('{"stream\\u005fname":"a"}')).toBe('a');
});

test('[wire 3.1] what is no text, not there or no object is nothing', () => {
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
