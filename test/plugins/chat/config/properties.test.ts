import { expect } from 'chai';
import fc from 'fast-check';
import { stringify } from 'yaml';
import { effective } from './harness.js';

/** Keys that a pin may set; of the second kind only to less than the files say. */
const FREE = (
  'instructions mode continuationModel temperature topP stopSequences streaming toolOutputVisible replyOnRandom ' +
  'replyOnName receipts'
).split(' ');
const LOWER_ONLY = (
  'maxTokens llmRetries recencyWindow rollingThreshold maxContextTokens truncateToTokens includeImages maxImages ' +
  'maxTextFiles textFileMaxBytes toolsEnabled maxToolDepth maxQueuedReplies botChainLength'
).split(' ');
/** Keys for admins and the owner. */
const NOT_FOR_PINS = (
  'name innerName systemPrompt cache historyRoles toolsOnDemand llmTimeoutMs imageMaxBytes imageMaxTotalBytes ' +
  'allowedModels fallbackModels discordBackoffMax'
).split(' ');
const PATHS = [...FREE, ...LOWER_ONLY, ...NOT_FOR_PINS];

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
  it('takes each value from the last file that has the key, whatever the files are', async () => {
    const valid = fc.record(
      {
        temperature: fc.double({ min: 0, max: 1, noNaN: true }),
        maxTokens: fc.integer({ min: 200, max: 4_000 }),
        replyOnName: fc.boolean(),
        instructions: fc.constantFrom('Rhyme.', 'Be brief.'),
        stopSequences: fc.array(fc.constantFrom('END', 'STOP'), { maxLength: 2 }),
      },
      { requiredKeys: [] },
    );
    await fc.assert(
      fc.asyncProperty(valid, valid, valid, async (a, b, c) => {
        const { config, origin } = await effective({ files: { a: stringify(a), b: stringify(b), c: stringify(c) } });
        const one = await effective({ files: { all: stringify({ ...a, ...b, ...c }) } });
        expect(config).to.deep.equal(one.config);
        const from = (path: string) => (path in c ? 'c' : path in b ? 'b' : path in a ? 'a' : 'default');
        for (const [path, at] of Object.entries(origin)) expect(at.split(':')[0], path).to.equal(from(path));
      }),
      { numRuns: 25 },
    );
  });

  it('gives one that is right as a file, whatever the files, settings and pins say', async () => {
    await fc.assert(
      fc.asyncProperty(anyValues, anyValues, anyValues, async (file, settings, pin) => {
        const { config, origin } = await effective({
          files: { 'config/shared.yaml': stringify(file) },
          settings,
          pins: [stringify(pin)],
        });
        const again = await effective({ files: { 'config/shared.yaml': stringify(config) } });
        expect(again.problems).to.deep.equal([]);
        expect(again.config).to.deep.equal(config);
        expect(config.truncateToTokens).to.be.below(config.maxContextTokens);
        expect(Object.keys(origin)).to.have.members(PATHS);
      }),
      { numRuns: 50 },
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
        for (const path of NOT_FOR_PINS) expect(after.get(path), path).to.deep.equal(before.get(path));
        for (const path of LOWER_ONLY) expect(amount(after, path), path).to.be.at.most(amount(before, path));
        const model = after.get('continuationModel');
        const allowed = before.get('allowedModels');
        if (model !== before.get('continuationModel') && !(Array.isArray(allowed) && allowed.includes('*')))
          expect(allowed).to.include(model);
      }),
      { numRuns: 50 },
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
      { numRuns: 200 },
    );
  });

  function flat(config: object): ReadonlyMap<string, unknown> {
    const values = new Map(Object.entries(config));
    return new Map(PATHS.map((path) => [path, values.get(path)]));
  }

  it('lets a pin lower the default of each key where the files say nothing, and not raise it', async () => {
    const { config: defaults } = await effective({});
    for (const path of LOWER_ONLY) {
      const known = flat(defaults).get(path);
      const pinned = (value: unknown) => effective({ pins: [`${path}: ${value}`] });
      const isNumber = typeof known === 'number';
      expect((await pinned(isNumber ? known + 1 : 900_000)).config, path).to.deep.equal(defaults);
      const lower = isNumber ? known - 1 : known === true ? false : 30;
      expect(flat((await pinned(lower)).config).get(path), path).to.equal(lower);
    }
  });
});
