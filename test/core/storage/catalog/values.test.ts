import { CinnabarError, option, z } from '@cinnabar/sdk';
import { expect } from 'chai';
import * as fc from 'fast-check';
import { failure } from '../../../support/codes.js';
import { memoryStorage, storingPlugin } from '../fixture.js';
import { OWNER } from './given.js';

const DM = { ...OWNER, guildId: null };

/** Sets a global setting of this schema from text. @returns its value */
async function setFrom(schema: z.ZodType, text: string): Promise<unknown> {
  const { storage } = memoryStorage({ tierOf: async () => 'botOwner' });
  storage.open(storingPlugin({ settings: { global: z.object({ it: schema }) } }));
  return (await storage.catalog.set('party', 'it', text, DM)).value;
}

async function typeOf(schema: z.ZodType): Promise<string | undefined> {
  const { storage } = memoryStorage();
  storage.open(storingPlugin({ settings: { global: z.object({ it: schema }) } }));
  return (await storage.catalog.describe('party', DM))[0]?.type;
}

async function refusal(schema: z.ZodType, text: string): Promise<string> {
  return (await failure('CINNABAR_SETTING_INVALID', () => setFrom(schema, text))).message.replace(
    'The value for "it" is not right: ',
    '',
  );
}

describe('a type in words', () => {
  const cases: readonly (readonly [words: string, schema: z.ZodType])[] = [
    ['yes or no', z.boolean().default(true)],
    ['whole number from 1 to 20', z.number().int().min(1).max(20).default(5)],
    ['whole number', z.int().default(0)],
    ['whole number of at least 0', z.number().int().nonnegative().default(0)],
    ['number of at most 1', z.number().max(1).default(0)],
    ['number above 0', z.number().positive().default(1)],
    ['duration', option.duration().default(1000)],
    ['duration from 10s to 5m', z.number().min(10_000).max(300_000).meta({ kind: 'duration' }).default(60_000)],
    ['text', z.string().default('')],
    ['text', z.string().min(1).optional()],
    ['text of 2 to 5 characters', z.string().min(2).max(5).optional()],
    ['web address', z.url().optional()],
    ['channel', z.string().meta({ kind: 'channel' }).optional()],
    ['one of plain, cyberpunk, terminal', z.enum(['plain', 'cyberpunk', 'terminal']).default('plain')],
    ['one of 1, two', z.literal([1, 'two']).default(1)],
    ['list of text', z.array(z.string()).default([])],
    [
      'list of roles, of at most 3 items',
      z
        .array(z.string().meta({ kind: 'role' }))
        .max(3)
        .default([]),
    ],
    ['list of whole numbers from 1 to 6', z.array(z.int().min(1).max(6)).default([])],
    ['JSON object', z.record(z.string(), z.number()).default({})],
    ['number or none', z.number().nullable().default(null)],
    ['number or text', z.union([z.number(), z.string()]).default(0)],
    ['anything, as JSON or text', z.any().optional()],
  ];
  for (const [words, schema] of cases) {
    it(words, async () => expect(await typeOf(schema)).to.equal(words));
  }
});

describe('a value from text', () => {
  const cases: readonly (readonly [schema: z.ZodType, text: string, value: unknown])[] = [
    ...['yes', 'ON', 'true', '1', 'enabled', 'ja', 'An'].map(
      (text) => [z.boolean().default(false), text, true] as const,
    ),
    ...['no', 'Off', 'false', '0', 'nein', 'aus'].map((text) => [z.boolean().default(true), text, false] as const),
    [z.number().default(0), '-2.5', -2.5],
    [z.int().default(0), ' 7 ', 7],
    [option.duration().default(0), '1h30m', 5_400_000],
    [option.duration().default(1), '0', 0],
    [option.duration().default(0), '1.5s', 1500],
    [option.duration().default(0), '2 d 250ms', 172_800_250],
    [z.string().default(''), ' as it is ', ' as it is '],
    [z.enum(['plain', 'Cyberpunk']).default('plain'), 'cyberpunk', 'Cyberpunk'],
    [z.enum(['a', 'A']).default('a'), 'A', 'A'],
    [z.literal([1, 'two']).default('two'), '1', 1],
    [z.string().meta({ kind: 'channel' }).default(''), '<#123456789012345678>', '123456789012345678'],
    [z.string().meta({ kind: 'user' }).default(''), '<@!123456789012345678>', '123456789012345678'],
    [z.string().meta({ kind: 'role' }).default(''), '<@&123456789012345678>', '123456789012345678'],
    [z.string().meta({ kind: 'role' }).default(''), '123456789012345678', '123456789012345678'],
    [z.array(z.string().meta({ kind: 'user' })).default([]), '<@1>, <@2>', ['1', '2']],
    [z.array(z.string()).default([]), 'a, b ,, c', ['a', 'b', 'c']],
    [z.array(z.string()).default(['x']), '', []],
    [z.array(z.string()).default([]), '["a, b"]', ['a, b']],
    [z.array(z.string()).default([]), 'two words', ['two words']],
    [z.array(z.string().regex(/^\S+$/)).default([]), 'two words', ['two', 'words']],
    [z.array(z.int()).default([]), '1 2  3', [1, 2, 3]],
    [z.array(option.duration()).default([]), '1h 30m', [5_400_000]],
    [z.array(z.string().meta({ kind: 'user' })).default([]), '<@1> <@2>', ['1', '2']],
    [z.array(z.object({ a: z.number() })).default([]), '[{"a":1}]', [{ a: 1 }]],
    [z.record(z.string(), z.number()).default({}), '{"a":1}', { a: 1 }],
    [z.number().nullable().default(0), 'none', null],
    [z.union([z.string(), z.number()]).default(0), '5', 5],
    [z.union([z.number(), z.string()]).default(0), 'five', 'five'],
    [z.any().optional(), '{"a":1}', { a: 1 }],
    [z.any().optional(), 'words', 'words'],
  ];
  for (const [schema, text, value] of cases) {
    it(`${JSON.stringify(text)} is ${JSON.stringify(value)}`, async () => {
      expect(await setFrom(schema, text)).to.deep.equal(value);
    });
  }
});

describe('the error for a value', () => {
  const cases: readonly (readonly [schema: z.ZodType, text: string, sentence: string])[] = [
    [z.boolean().default(true), 'maybe', 'it has to be yes or no, not "maybe".'],
    [z.number().int().min(1).max(20).default(5), '25', 'it has to be a whole number from 1 to 20, not "25".'],
    [z.number().int().min(1).max(20).default(5), '2.5', 'it has to be a whole number from 1 to 20, not "2.5".'],
    [z.number().default(0), '', 'it has to be a number.'],
    [z.number().default(0), '0x10', 'it has to be a number, not "0x10".'],
    [option.duration().default(0), '90', 'it has to be a duration, such as 90s, 10m, 1h30m or 2d, not "90".'],
    [
      z.enum(['plain', 'terminal']).default('plain'),
      'terminl',
      'it has to be one of plain, terminal, not "terminl"; did you mean terminal?',
    ],
    [z.string().max(3).default(''), 'four', 'it has to be text of at most 3 characters, not "four".'],
    [
      z.string().meta({ kind: 'channel' }).default(''),
      '#general',
      'it has to be a channel: mention it, or give its id, not "#general".',
    ],
    [z.array(z.int()).default([]), '1, x', 'of each item, it has to be a whole number, not "x".'],
    [z.array(z.int().max(5)).default([]), '1, 9', 'of the item "9", expected number to be <=5.'],
    [
      z
        .string()
        .meta({ format: 'time-zone' })
        .refine((zone) => zone.includes('/'), 'has to be a time zone')
        .default('UTC'),
      'new york',
      'has to be a time zone; did you mean America/New_York?',
    ],
    [
      z.record(z.string(), z.number()).default({}),
      '[1]',
      'it has to be a JSON object, such as {"name": "value"}, not "[1]".',
    ],
    [z.record(z.string(), z.number()).default({}), '{"a":"b"}', 'at a, expected number, received string.'],
    [
      z
        .string()
        .refine((text) => text !== 'no', 'No is not an answer')
        .default(''),
      'no',
      'No is not an answer.',
    ],
    [
      z.string().max(3).default(''),
      `a\n\u202e"@everyone" ${'x'.repeat(100)}`,
      `it has to be text of at most 3 characters, not "a everyone ${'x'.repeat(49)}…".`,
    ],
  ];
  for (const [schema, text, sentence] of cases) {
    it(sentence, async () => expect(await refusal(schema, text)).to.equal(sentence));
  }

  it('finds channels and roles by name, and names one that does not exist', async () => {
    const { storage } = memoryStorage({
      tierOf: async () => 'admin',
      called: (_guildId, of, name) =>
        [
          { id: '11', of: 'channel', name: 'general' },
          { id: '12', of: 'channel', name: 'twice' },
          { id: '13', of: 'channel', name: 'twice' },
          { id: '21', of: 'role', name: 'good fixers' },
        ].flatMap((one) => (one.of === of && one.name === name ? one.id : [])),
    });
    const channel = z.string().meta({ kind: 'channel' });
    const schema = z.object({
      one: channel.optional(),
      many: z.array(channel).default([]),
      roles: z.array(z.string().meta({ kind: 'role' })).default([]),
      maybe: channel.nullable().default(null),
    });
    storage.open(storingPlugin({ settings: { guild: schema } }));
    const set = async (key: string, text: string) => (await storage.catalog.set('party', key, text, OWNER)).value;
    const wrong = async (key: string, text: string) =>
      (await failure('CINNABAR_SETTING_INVALID', () => set(key, text))).message.replace(/^.* is not right: /, '');
    expect(await set('one', '#General')).to.equal('11');
    expect(await set('many', 'general <#12>')).to.deep.equal(['11', '12']);
    expect(await set('many', '["general"]')).to.deep.equal(['11']);
    expect(await set('roles', 'Good Fixers')).to.deep.equal(['21']);
    expect(await set('maybe', 'none')).to.equal(null);
    const none = 'no channel here is called "quiet": mention it, or give its id.';
    for (const key of ['one', 'many', 'maybe']) expect(await wrong(key, 'quiet')).to.equal(none);
    expect(await wrong('many', 'general, quiet')).to.equal(none);
    expect(await wrong('one', 'twice')).to.equal('2 are called "twice": mention the one that you mean.');
  });

  it('never fails with anything but a coded error, whatever is typed', async () => {
    const { storage } = memoryStorage({ tierOf: async () => 'botOwner' });
    const schemas = {
      boolean: z.boolean().default(true),
      number: z.number().default(0),
      duration: option.duration().default(0),
      text: z.string().regex(/^a/).optional(),
      choice: z.enum(['a', 'b']).default('a'),
      list: z.array(z.union([z.number(), z.boolean()])).default([]),
      deep: z.array(z.object({ a: z.array(z.string()) })).default([]),
      object: z.object({ a: z.number().default(1) }).default({ a: 1 }),
      either: z.union([z.number(), z.null(), z.array(z.string())]).default(null),
      date: z.coerce.date().optional(),
      any: z.any().optional(),
      secret: z.string().meta({ secret: true }).optional(),
    };
    storage.open(storingPlugin({ settings: { global: z.object(schemas), guild: z.object(schemas) } }));
    const names = Object.keys(schemas).flatMap((key) => [key, `global.${key}`, `guild.${key}`, `role.${key}`]);
    const typed = fc.oneof(
      fc.string(),
      fc.json(),
      fc.constantFrom('', 'yes', '[', '{}', '[]', '-1', 'null', '<@1>', '1h', '__proto__', '{"__proto__":{"a":1}}'),
    );
    await fc.assert(
      fc.asyncProperty(
        fc.oneof(fc.constantFrom(...names), fc.string()),
        typed,
        fc.boolean(),
        async (key, text, reset) => {
          try {
            if (reset) await storage.catalog.reset('party', key, OWNER);
            else await storage.catalog.set('party', key, text, OWNER);
          } catch (error) {
            if (!(error instanceof CinnabarError)) throw error;
            expect(error.message).to.match(/^[^\n]+$/);
          }
          await storage.catalog.describe('party', OWNER);
        },
      ),
      { numRuns: 300 },
    );
  });
});
