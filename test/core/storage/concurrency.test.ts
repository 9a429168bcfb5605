import { type Document, z } from '@cinnabar/sdk';
import { expect } from 'chai';
import * as fc from 'fast-check';
import { memoryStorage } from './fixture.js';

const definition = {
  scope: 'user',
  version: 1,
  schema: z.object({ log: z.array(z.number()).default([]) }),
} as const;
const pathOf = (user: string) => ['party', 'collections', 'user', 'logs', user];
type Log = Document<{ log: number[] }>;

/** An operation on one document, and its required result. */
type Operation =
  | { readonly kind: 'append'; readonly key: string; readonly pauses: number }
  | { readonly kind: 'throw'; readonly key: string; readonly pauses: number }
  | { readonly kind: 'set' | 'delete' | 'fail'; readonly key: string };

const key = fc.constantFrom('1', '2');
const operation: fc.Arbitrary<Operation> = fc.oneof(
  fc.record({ kind: fc.constant('append' as const), key, pauses: fc.nat(3) }),
  fc.record({ kind: fc.constant('throw' as const), key, pauses: fc.nat(3) }),
  fc.record({ kind: fc.constantFrom('set' as const, 'delete' as const, 'fail' as const), key }),
);

async function pause(times: number): Promise<void> {
  for (let time = 0; time < times; time += 1) await Promise.resolve();
}

async function start(document: Log, one: Operation, number: number, failNext: () => void): Promise<void> {
  switch (one.kind) {
    case 'append':
      await document.update(async (draft) => {
        const before = draft.log.length;
        await pause(one.pauses);
        expect(draft.log, 'nobody else writes in this draft').to.have.length(before);
        draft.log.push(number);
      });
      return;
    case 'throw':
      await document
        .update(async (draft) => {
          draft.log.push(number);
          await pause(one.pauses);
          throw new Error('changed my mind');
        })
        .catch(() => undefined);
      return;
    case 'set':
      await document.set({ log: [number] });
      return;
    case 'delete':
      return document.delete();
    case 'fail':
      await document
        .update((draft) => {
          draft.log.push(number);
          failNext();
        })
        .catch(() => undefined);
  }
}

function apply(before: readonly number[] | undefined, one: Operation, number: number): readonly number[] | undefined {
  if (one.kind === 'append') return [...(before ?? []), number];
  if (one.kind === 'set') return [number];
  return one.kind === 'delete' ? undefined : before;
}

describe('concurrent changes', () => {
  it('have the effect of one after another in the order they were asked for, and memory says what the disk says', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(operation, { maxLength: 30 }), async (operations) => {
        const { driver, open, storage } = memoryStorage();
        const logs = open({ collections: { logs: definition } }).collections.logs;
        const model = new Map<string, readonly number[] | undefined>();
        await Promise.all(
          operations.map((one, number) => {
            model.set(one.key, apply(model.get(one.key), one, number));
            return start(logs.of(one.key), one, number, () =>
              driver.failWrites(new Error('no space left'), 1, pathOf(one.key)),
            );
          }),
        );
        await storage.flush();
        const restarted = memoryStorage({ driver }).open({ collections: { logs: definition } }).collections.logs;
        for (const [one, log] of model) {
          expect((await logs.of(one).find())?.log, 'in memory').to.deep.equal(log);
          expect((await restarted.of(one).find())?.log, 'on disk').to.deep.equal(log);
        }
      }),
      { numRuns: 150 },
    );
  });

  it('of settings are all there, whichever way each was made', async () => {
    const keys = ['a', 'b', 'c', 'd', 'e'] as const;
    const schema = z.object({
      a: z.number().default(0),
      b: z.number().default(0),
      c: z.number().default(0),
      d: z.number().default(0),
      e: z.number().default(0),
    });
    const change = fc.record({ key: fc.constantFrom(...keys), way: fc.constantFrom('set', 'update', 'reset') });
    await fc.assert(
      fc.asyncProperty(fc.array(change, { maxLength: 25 }), async (changes) => {
        const { global } = memoryStorage().open({ settings: { global: schema } }).settings;
        const model = { a: 0, b: 0, c: 0, d: 0, e: 0 };
        await Promise.all(
          changes.map(({ key: one, way }, index) => {
            model[one] = way === 'reset' ? 0 : way === 'set' ? index : model[one] + 1;
            if (way === 'reset') return global.reset(one);
            if (way === 'set') return global.set({ [one]: index });
            return global.update((draft) => Object.assign(draft, { [one]: draft[one] + 1 }));
          }),
        );
        expect(await global.get()).to.deep.equal(model);
      }),
      { numRuns: 100 },
    );
  });

  it('are through when storage is flushed', async () => {
    const { open, storage, driver } = memoryStorage();
    const { logs } = open({ collections: { logs: definition } }).collections;
    const changes = [1, 2, 3].map((number) => logs.of('1').update((draft) => draft.log.push(number)));
    await storage.flush();
    expect((await driver.read(['party', 'collections', 'user', 'logs', '1']))?.data).to.deep.equal({ log: [1, 2, 3] });
    await Promise.all(changes);
  });
});
