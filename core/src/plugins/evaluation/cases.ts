import { createHash } from 'node:crypto';
import { type Evaluation, type ToolInfo, UserError } from '@cinnabar/sdk';

/** What a model is asked, and what it should do. */
export interface EvaluationCase {
  readonly plugin: string;
  readonly say: string;
  /** The tool that is right; `undefined` where none is. */
  readonly tool: string | undefined;
  /** Arguments that the call has to have; others may be there, too. */
  readonly input: Readonly<Record<string, unknown>>;
  /** Names of the tools offered to the model, in this order. */
  readonly offered: readonly string[];
}

export interface CaseOptions {
  /** How many tools of other plugins are offered beside those of the plugin. */
  readonly distractors: number;
  /** The same seed gives the same cases. */
  readonly seed: number;
  readonly plugins: ReadonlySet<string>;
  /** By name; all of the plugins when it is empty. */
  readonly tools: ReadonlySet<string>;
}

/** What is in the server that is spoken of. */
export interface Scenery {
  readonly memberId: string;
  readonly channelId: string;
  readonly roleId: string;
  readonly guildId: string;
  readonly messageId: string;
}

/** What a plugin adds to the examples of its tools. */
export interface OwnEvaluations {
  readonly plugin: string;
  readonly evaluations: readonly Evaluation[];
}

/** Said in every server, and for no tool: each plugin is offered with some of them. */
const SMALL_TALK = [
  'Good morning, everybody!',
  'I am so tired today.',
  'That was a great game last night.',
  'Thanks, that helped a lot.',
  'Do you like rainy weather?',
  'I had soup for lunch, it was too salty.',
  'Why is the sky blue?',
  'Never mind, I have found it myself.',
  'What is seven times eight?',
  'My sister has just had a baby!',
] as const;
const SMALL_TALK_FOR_EACH = 3;

/** Said in the place of a slot that takes any text. */
const WORDS = ['Vesper', 'Lantern', 'Juniper', 'Marigold', 'Quartz', 'Osprey', 'Saffron', 'Thistle'] as const;

/**
 * Every example of every chosen tool with its slots filled, what the plugins add, and small talk.
 * @throws UserError for an evaluation that names a tool of another plugin, or none that there is
 */
export function casesOf(
  all: readonly ToolInfo[],
  added: readonly OwnEvaluations[],
  scenery: Scenery,
  options: CaseOptions,
): readonly EvaluationCase[] {
  const { plugins, tools: chosen, seed } = options;
  const isChosen = (name: string) => chosen.size === 0 || chosen.has(name);
  return [...plugins].flatMap((plugin) => {
    const own = all.filter((tool) => tool.plugin === plugin);
    if (own.length === 0) return [];
    const others = shuffled(
      all.filter((tool) => tool.plugin !== plugin),
      ({ name }) => name,
      `${seed}:${plugin}`,
    ).slice(0, options.distractors);
    const asked = (say: string, tool: string | undefined, input: Readonly<Record<string, unknown>>): EvaluationCase => {
      const offered = shuffled([...own, ...others], ({ name }) => name, `${seed}:${say}`);
      return { plugin, say, tool, input, offered: offered.map(({ name }) => name) };
    };
    const ofPlugin = added.filter((one) => one.plugin === plugin).flatMap(({ evaluations }) => evaluations);
    for (const { tool, say } of ofPlugin)
      if (tool !== undefined && !own.some(({ name }) => name === tool))
        throw new UserError(`The plugin ${plugin} expects the tool "${tool}" for “${say}”, and has no such tool.`);
    return [
      ...own
        .filter(({ name }) => isChosen(name))
        .flatMap((tool) =>
          tool.examples.map((example) => {
            const { say, input } = filled(example, tool, scenery, `${seed}`);
            return asked(say, tool.name, input);
          }),
        ),
      ...ofPlugin
        .filter(({ tool }) => tool === undefined || isChosen(tool))
        .map(({ say, tool, input = {} }) => asked(say, tool, input)),
      ...shuffled(SMALL_TALK, (line) => line, `${seed}:${plugin}`)
        .slice(0, SMALL_TALK_FOR_EACH)
        .map((line) => asked(line, undefined, {})),
    ];
  });
}

/** What is said for one slot, and what the argument has to be; `undefined` where it can be right in several ways. */
interface Filling {
  readonly said: string;
  readonly expected: unknown;
}

function filled(example: string, { name, inputSchema }: ToolInfo, scenery: Scenery, seed: string) {
  const input: Record<string, unknown> = {};
  const properties = recordOf(inputSchema.properties);
  const say = example.replace(/\{(\w+)\}/g, (_, slot: string) => {
    const { said, expected } = fillingOf(
      slot,
      recordOf(properties[slot]),
      scenery,
      `${seed}:${name}:${slot}:${example}`,
    );
    if (expected !== undefined) input[slot] = expected;
    return said;
  });
  return { say, input };
}

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const recordOf = (value: unknown): Readonly<Record<string, unknown>> => (isRecord(value) ? value : {});

const DURATIONS = ['10 minutes', '2 hours', '3 days', '90s'] as const;

/** By the examples of its schema, its type, and last by what its name says. */
function fillingOf(slot: string, schema: Readonly<Record<string, unknown>>, scenery: Scenery, key: string): Filling {
  const { type, enum: values, examples, items, maxLength } = schema;
  const choices = Array.isArray(examples) ? examples : Array.isArray(values) ? values : undefined;
  if (choices !== undefined) {
    const value: unknown = chosenOf(choices, key);
    return { said: String(value), expected: value };
  }
  if (type === 'boolean') {
    const isOn = numberOf(key) % 2 === 0;
    return { said: isOn ? 'on' : 'off', expected: isOn };
  }
  if (type === 'integer' || type === 'number') {
    const number = amountOf(schema, key);
    return { said: String(number), expected: number };
  }
  if (type === 'array') {
    const { said, expected } = fillingOf(slot, recordOf(items), scenery, key);
    return { said, expected: expected === undefined ? undefined : [expected] };
  }
  const named = namedText(slot, scenery);
  if (named !== undefined) return named;
  if (/duration|interval|seconds|howLong/i.test(slot)) {
    const said = chosenOf(DURATIONS, key);
    return { said, expected: said };
  }
  // There are many ways to write a moment.
  if (/^(?:when|at|date|until|due)$/i.test(slot)) return { said: 'tomorrow at 18:00', expected: undefined };
  const word = chosenOf(WORDS, key).slice(0, typeof maxLength === 'number' ? maxLength : undefined);
  return { said: word, expected: word };
}

const IDS: readonly (readonly [pattern: RegExp, id: keyof Scenery, sign: string])[] = [
  [/member|user|author/i, 'memberId', '@'],
  [/guild|server/i, 'guildId', ''],
  [/channel|thread|forum|category/i, 'channelId', '#'],
  [/role/i, 'roleId', '@&'],
];

/** Things of Discord: by their ids where the slot is one for ids, else by their names. */
function namedText(slot: string, scenery: Scenery): Filling | undefined {
  if (/emoji/i.test(slot)) return { said: '👍', expected: '👍' };
  if (/Ids?$/.test(slot)) {
    const [, id, sign] = IDS.find(([pattern]) => pattern.test(slot)) ?? [undefined, 'messageId' as const, ''];
    return { said: sign === '' ? scenery[id] : `<${sign}${scenery[id]}>`, expected: scenery[id] };
  }
  if (/^(?:member|user|author)s?$/i.test(slot)) return { said: '@alice', expected: 'alice' };
  return /^channels?$/i.test(slot) ? { said: '#general', expected: 'general' } : undefined;
}

/** The range of numbers that people say. */
const SPOKEN = 20;

function amountOf({ minimum, maximum, multipleOf }: Readonly<Record<string, unknown>>, key: string): number {
  const least = Math.max(typeof minimum === 'number' ? minimum : 2, 2);
  const most = Math.min(typeof maximum === 'number' ? maximum : least + SPOKEN, least + SPOKEN);
  const step = typeof multipleOf === 'number' && multipleOf > 0 ? multipleOf : 1;
  const count = Math.max(1, Math.floor((most - least) / step) + 1);
  return Math.min(most, Math.ceil(least / step) * step + (numberOf(key) % count) * step);
}

const numberOf = (key: string): number => createHash('sha256').update(key).digest().readUInt32BE(0);

function chosenOf<T>(from: readonly T[], key: string): T {
  const value = from[numberOf(key) % from.length];
  if (value === undefined) throw new RangeError('there is nothing to choose from');
  return value;
}

/** In an order that the seed decides, and that one entry more or less does not change for the others. */
function shuffled<T>(list: readonly T[], nameOf: (entry: T) => string, seed: string): readonly T[] {
  return list
    .map((entry) => ({ entry, at: numberOf(`${seed}:${nameOf(entry)}`) }))
    .sort((one, other) => one.at - other.at)
    .map(({ entry }) => entry);
}
