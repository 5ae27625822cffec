import { describe, expect, test } from 'vitest';
import { compileCheck, describeIssues } from '../../../../src/sdk/functions/checked-handler.ts';
import { jsonSchemaOf, type StandardSchema } from '../../../../src/sdk/functions/schema.ts';

const trimmed: StandardSchema<string> = {
  '~standard': {
    version: 1,
    vendor: 'test',
    validate: (value) =>
      typeof value === 'string' ? { value: value.trim() } : { issues: [{ message: 'must be text' }] },
  },
};

/** The same schema with members a library may add. */
const withMembers = (members: object, standardMembers: object = {}): StandardSchema => ({
  ...members,
  '~standard': { ...trimmed['~standard'], ...standardMembers },
});

describe('schemas of a function', () => {
  test('[SDK-2] a Standard Schema checks and converts, even if the schema object is a function', () => {
    const callable = Object.assign(() => {}, trimmed);
    for (const schema of [trimmed, callable]) {
      const check = compileCheck(schema);
      expect(check(' a ')).toEqual({ value: 'a' });
      expect(check(5)).toEqual({ issues: [{ message: 'must be text' }] });
    }
  });

  test('[SDK-2] plain JSON Schema checks and does not change the value', () => {
    const check = compileCheck({ type: 'string' });
    expect(check(' a ')).toEqual({ value: ' a ' });
    expect(check(5)).toMatchObject({ issues: [{ path: [] }] });
  });

  test('[SDK-2] the JSON Schema is requested in every way that libraries offer, for input or output', () => {
    const sided = withMembers({}, { jsonSchema: { input: () => ({ side: 'in' }), output: () => ({ side: 'out' }) } });
    expect(jsonSchemaOf(sided, 'input')).toEqual({ side: 'in' });
    expect(jsonSchemaOf(sided, 'output')).toEqual({ side: 'out' });
    expect(jsonSchemaOf(withMembers({ toJSONSchema: () => ({ by: 'method' }) }), 'input')).toEqual({ by: 'method' });
    expect(jsonSchemaOf(withMembers({ toJsonSchema: () => ({ by: 'method' }) }), 'input')).toEqual({ by: 'method' });
    expect(jsonSchemaOf({ type: 'string' }, 'input')).toEqual({ type: 'string' });
  });

  test('[SDK-2] a schema that has no JSON Schema gives none, whatever its library throws', () => {
    expect(jsonSchemaOf(trimmed, 'input')).toBeUndefined();
    const throwing = () => {
      throw new Error('transforms have no JSON Schema');
    };
    expect(jsonSchemaOf(withMembers({ toJSONSchema: throwing }), 'input')).toBeUndefined();
    expect(jsonSchemaOf(withMembers({ toJSONSchema: () => 'text' }), 'input')).toBeUndefined();
  });

  test('[SDK-2] another version of the interface is refused instead of misread', () => {
    const future = withMembers({}, { version: 2 });
    expect(() => compileCheck(future)).toThrow('not version 1 of the Standard Schema interface');
  });

  test('[SDK-2] paths of issues are read in both forms the interface allows', () => {
    expect(describeIssues([{ message: 'is bad', path: ['lines', { key: 0 }, { key: Symbol('s') }] }])).toBe(
      '/lines/0/Symbol(s) is bad',
    );
  });
});
