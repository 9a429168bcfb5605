import { build, type Entries, type Entry, merge, valueAt } from '@cinnabar/plugin-chat/dist/config/chat-config.js';
import { botConfigSchema, LEAVES } from '@cinnabar/plugin-chat/dist/config/keys.js';
import { expect } from 'chai';
import fc from 'fast-check';
import { stringify } from 'yaml';
import { effective } from './harness.js';

const PATHS = [...LEAVES.keys()];

/** A value that may or may not fit the key. */
const anyValue = fc.oneof(
  fc.boolean(),
  fc.integer({ min: -5, max: 3_000_000 }),
  fc.double({ min: -1, max: 3, noNaN: true }),
  fc.constantFrom('chat', 'prefill', 'auto', '1h', 'off', 'dear-model', '*', ''),
  fc.array(fc.constantFrom('dear-model', '*', 'x')),
  fc.constant(null),
  fc.jsonValue(),
);
/** Keys and values of all kinds, as an admin might write them. */
const anyValues = fc
  .array(fc.tuple(fc.oneof({ weight: 9, arbitrary: fc.constantFrom(...PATHS) }, fc.string()), anyValue))
  .map((pairs) => {
    const values: Record<string, unknown> = {};
    for (const [path, value] of pairs) values[path] = value;
    return values;
  });

describe('chat: laying configuration together', () => {
  const entry = fc.record({ value: fc.integer(), origin: fc.string() });
  const entries = fc
    .array(fc.tuple(fc.constantFrom(...PATHS), entry))
    .map((pairs): Entries => new Map<string, Entry>(pairs));
  const asObject = (map: Entries) => Object.fromEntries(map);

  it('is associative, and an empty layer changes nothing', () => {
    fc.assert(
      fc.property(entries, entries, entries, (a, b, c) => {
        expect(asObject(merge(merge(a, b), c))).to.deep.equal(asObject(merge(a, merge(b, c))));
        expect(asObject(merge(a, new Map()))).to.deep.equal(asObject(a));
        expect(asObject(merge(new Map(), a))).to.deep.equal(asObject(a));
      }),
    );
  });

  it('gives one that fits the schema, whatever the files, settings and pins say', async () => {
    await fc.assert(
      fc.asyncProperty(anyValues, anyValues, anyValues, async (file, settings, pin) => {
        const { config, origin } = await effective({
          files: { 'config/shared.yaml': stringify(file) },
          settings,
          pins: [stringify(pin)],
        });
        expect(botConfigSchema.safeParse(config).success).to.equal(true);
        expect(config.truncateToTokens).to.be.below(config.maxContextTokens);
        expect(Object.keys(origin)).to.have.members(PATHS);
      }),
      { numRuns: 100 },
    );
  });

  it('never lets a pin change what is not for it, nor raise what costs money', async () => {
    await fc.assert(
      fc.asyncProperty(anyValues, anyValues, async (file, pin) => {
        const files = { 'config/shared.yaml': stringify(file) };
        const before = flat((await effective({ files })).config);
        const after = flat((await effective({ files, pins: [stringify(pin)] })).config);
        // By default, the window grows to at most twice its size.
        const amount = (config: ReturnType<typeof flat>, path: string) =>
          Number(config.get(path) ?? config.get(path === 'rollingThreshold' ? 'recencyWindow' : path));
        for (const [path, { scope, lowerOnly }] of LEAVES) {
          if (scope !== 'channel') expect(after.get(path), path).to.deep.equal(before.get(path));
          else if (lowerOnly) expect(amount(after, path), path).to.be.at.most(amount(before, path));
        }
        const model = after.get('continuationModel');
        const allowed = before.get('allowedModels');
        if (model !== before.get('continuationModel') && !(Array.isArray(allowed) && allowed.includes('*')))
          expect(allowed).to.include(model);
      }),
      { numRuns: 100 },
    );
  });

  it('takes any text as a pin without throwing', async () => {
    const shred = fc.constantFrom(
      '\n',
      'mode: chat',
      'budgets:',
      '  ',
      '{',
      '[',
      '&a ',
      '*a',
      '"',
      '```',
      '- ',
      ': ',
      '!x',
    );
    const text = fc.oneof(
      fc.string(),
      fc.array(shred).map((shreds) => shreds.join('')),
    );
    await fc.assert(
      fc.asyncProperty(text, async (pin) => {
        const { problems } = await effective({ pins: [pin] });
        for (const problem of problems) expect(problem).to.match(/^pin 1:\d+: /);
      }),
      { numRuns: 500 },
    );
  });

  function flat(config: object): ReadonlyMap<string, unknown> {
    const values = new Map(Object.entries(config));
    return new Map(PATHS.map((path) => [path, values.get(path)]));
  }

  it('says the default of each key', () => {
    const config = build(new Map());
    for (const path of PATHS)
      expect(valueAt(new Map(), path), path).to.deep.equal(flat(config).get(path === 'truncateToTokens' ? '' : path));
  });
});
