import { describe, expect, test } from 'vitest';
import { RegistryCopy } from '../../../src/cluster/registry-copy.ts';
import { keyPart } from '../../../src/core/cluster/bucket-keys.ts';
import { withdrawFromRestricted } from '../../../src/router/registrations/functions.ts';
import { usableOffers } from '../../../src/router/remote/offers.ts';
import { RemoteEngine } from '../../../src/router/remote/remote-engine.ts';
import { EngineInMemory } from '../../support/engine/engine-in-memory.ts';
import { forEachSeed } from '../../support/random/seeded-random.ts';

const key = (engineId: string, kind: string, id: string): string => `${engineId}.${kind}.${keyPart(id).part}`;

const FUNCTION = '{"metadata":"{\\"team\\":1}"}';
const TRIGGER = JSON.stringify({ owner: 'w1', sdk: true, type: 'clock', function_id: 'far::one', config: '{"at":1}' });

class Copied implements Disposable {
  readonly engine = new EngineInMemory();
  readonly copy = new RegistryCopy(this.engine.context, 'own');

  came(id: string, copy = this.copy): RemoteEngine {
    const remote = new RemoteEngine(id, undefined, this.engine.context.compact);
    copy.engineCame(remote);
    return remote;
  }

  put(entryKey: string, value: string | undefined, copy = this.copy): void {
    copy.entry({ key: entryKey, value, revision: 1 });
  }

  get functions(): string[] {
    return [...this.engine.context.functions.all()].flatMap(({ id, kind }) => (kind === 'worker' ? [id] : [])).sort();
  }

  get triggers(): string[] {
    return [...this.engine.context.triggers.bindings()].map(({ id }) => id).sort();
  }

  [Symbol.dispose](): void {
    this.engine.stop();
  }
}

describe('the copy of what other engines offer', () => {
  test.each(['the engine first', 'the entry first'])(
    '[CL7] has a function when engine and entry are known, %s',
    (order) => {
      using copied = new Copied();
      if (order === 'the engine first') copied.came('e1');
      copied.put(key('e1', 'f', 'far::one'), FUNCTION);
      if (order === 'the entry first') copied.came('e1');
      expect(copied.functions).toEqual(['far::one']);
      copied.copy.engineLeft('e1');
      expect(copied.functions).toEqual([]);
    },
  );

  test('[CL7] drops what was not delivered again after an interruption', () => {
    using copied = new Copied();
    copied.came('e1');
    copied.copy.begin();
    for (const id of ['a', 'b']) copied.put(key('e1', 'f', id), FUNCTION);
    copied.copy.complete();
    copied.put(key('e1', 'f', 'c'), FUNCTION);
    copied.copy.begin();
    for (const id of ['b', 'd']) copied.put(key('e1', 'f', id), FUNCTION);
    copied.copy.complete();
    expect(copied.functions).toEqual(['b', 'd']);
  });

  test('[CL32] [X9] has no function of a restricted connection whose name is reserved, before or after it', () => {
    using copied = new Copied();
    const { context } = copied.engine;
    copied.came('e1');
    context.reservations.reserve('function', 'pay::charge');
    copied.put(key('e1', 'f', 'pay::charge'), '{"trust":"restricted"}');
    expect(copied.functions).toEqual([]);
    copied.put(key('e1', 'f', 'pay::later'), '{"trust":"granted"}');
    expect(copied.functions).toEqual(['pay::later']);
    withdrawFromRestricted(context, 'pay::later', 'trusted');
    expect(copied.functions).toEqual([]);
    copied.put(key('e1', 'f', 'pay::later'), undefined);
    expect(copied.functions).toEqual([]);
  });

  test('[CL32] [X9] calls go to trusted workers of other engines, in whatever order they registered', () => {
    using copied = new Copied();
    const { context } = copied.engine;
    const [strange, trusted] = [copied.came('e1'), copied.came('e2')];
    copied.put(key('e1', 'f', 'far::one'), '{"trust":"restricted"}');
    const usable = () => {
      const entry = context.functions.get('far::one');
      return entry?.kind === 'worker' ? usableOffers(entry, false).map(({ engine }) => engine.id) : [];
    };
    expect(usable()).toEqual([strange.id]);
    copied.put(key('e2', 'f', 'far::one'), FUNCTION);
    expect(usable()).toEqual([trusted.id]);
    copied.put(key('e1', 'f', 'far::one'), '{"trust":"granted"}');
    expect(usable()).toEqual([trusted.id]);
  });

  test('[CL6] keeps what a newer identity has entered again when the older one is forgotten', () => {
    using copied = new Copied();
    copied.came('e1');
    copied.put(key('e1', 'f', 'far::one'), FUNCTION);
    copied.put(key('e1', 't', 'daily'), TRIGGER);
    const newer = new RegistryCopy(copied.engine.context, 'own again');
    copied.came('e1', newer);
    copied.put(key('e1', 'f', 'far::one'), FUNCTION, newer);
    copied.put(key('e1', 't', 'daily'), TRIGGER, newer);
    copied.copy.stop();
    expect([copied.functions, copied.triggers]).toEqual([['far::one'], ['e1/daily']]);
    newer.stop();
    expect([copied.functions, copied.triggers]).toEqual([[], []]);
  });

  test('[CL7] has no entry that this version does not know, and reads those with further fields', () => {
    using copied = new Copied();
    copied.came('e1');
    copied.put('e1.x.abc', '{}');
    copied.put('cluster.marks', 'no JSON');
    copied.put(key('e1', 'f', 'bad'), '[1]');
    copied.put(key('e1', 'f', 'new'), '{"further":[1]}');
    expect(copied.functions).toEqual(['new']);
  });

  test('[CL7] is what is in the bucket for live engines, in whatever order changes arrive', () => {
    forEachSeed(50, (random) => {
      using copied = new Copied();
      const alive = new Set<string>();
      const entries = new Set<string>();
      for (let step = 0; step < 120; step++) {
        const engineId = random.pick(['e1', 'e2', 'e3']);
        const id = random.pick(['a', 'b', 'c']);
        const name = `${engineId} ${id}`;
        if (random.chance(25)) {
          if (alive.delete(engineId)) {
            copied.copy.engineLeft(engineId);
            for (const one of [...entries]) if (one.startsWith(engineId)) entries.delete(one);
          } else {
            alive.add(engineId);
            copied.came(engineId);
          }
        } else if (random.chance(60)) {
          entries.add(name);
          copied.put(key(engineId, 'f', id), FUNCTION);
        } else {
          entries.delete(name);
          copied.put(key(engineId, 'f', id), undefined);
        }
        const expected = [...entries].filter((one) => alive.has(one.slice(0, 2))).map((one) => one.slice(3));
        expect(copied.functions).toEqual([...new Set(expected)].sort());
      }
    });
  });
});
