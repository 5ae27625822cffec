import { describe, expect, test } from 'vitest';
import { Lanes } from '../../../../src/store/redis/commands.ts';

describe('lanes', () => {
  test('[S3] writes of one key wait for a running update and keep their order, and other keys do not wait', async () => {
    const lanes = new Lanes();
    const begun: string[] = [];
    const ends: (() => void)[] = [];
    const work = (name: string) => (): Promise<string> => {
      begun.push(name);
      return new Promise((resolve) => ends.push(() => resolve(name)));
    };
    const all = [
      lanes.pass('a', work('set 1')),
      lanes.hold('a', work('update 1')),
      lanes.pass('a', work('set 2')),
      lanes.hold('a', work('update 2')),
      lanes.pass('a', work('set 3')),
      lanes.pass('b', work('elsewhere')),
    ];
    expect(begun).toEqual(['set 1', 'update 1', 'elsewhere']);
    ends[1]?.();
    await all[1];
    await new Promise((resolve) => setImmediate(resolve));
    expect(begun.slice(3)).toEqual(['set 2', 'update 2']);
    ends[4]?.();
    await all[3];
    await new Promise((resolve) => setImmediate(resolve));
    expect(begun.slice(5)).toEqual(['set 3']);
    for (const end of ends) end();
    expect(await Promise.all(all)).toEqual(['set 1', 'update 1', 'set 2', 'update 2', 'set 3', 'elsewhere']);
  });

  test('[S3] a failed update frees its lane', async () => {
    const lanes = new Lanes();
    const failed = lanes.hold('a', () => Promise.reject(new Error('away')));
    const next = lanes.hold('a', async () => 'done');
    await expect(failed).rejects.toThrow('away');
    expect(await next).toBe('done');
  });
});
