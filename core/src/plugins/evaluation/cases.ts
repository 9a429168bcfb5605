import { createHash } from 'node:crypto';
import { type Evaluation, type ToolInfo, UserError } from '@cinnabar/sdk';

/** A request to a model, and the expected call. */
export interface EvaluationCase {
  readonly plugin: string;
  readonly say: string;
  /** The expected tool; `undefined` when none is expected. */
  readonly tool: string | undefined;
  /** Arguments that the call must contain; others are allowed. */
  readonly input: Readonly<Record<string, unknown>>;
  /** Names of the tools offered to the model, in this order. */
  readonly offered: readonly string[];
}

interface CaseOptions {
  /** The number of tools of other plugins that are offered in addition to those of the plugin. */
  readonly distractors: number;
  /** The same seed gives the same cases. */
  readonly seed: number;
  readonly plugins: ReadonlySet<string>;
  /** By name; all of the plugins when it is empty. */
  readonly tools: ReadonlySet<string>;
}

/** The members, roles and channels of the server that the requests mention. */
interface Scenery {
  readonly memberId: string;
  readonly channelId: string;
  readonly roleId: string;
  readonly guildId: string;
  readonly messageId: string;
}

/** A plugin's additions to the examples of its tools. */
interface OwnEvaluations {
  readonly plugin: string;
  readonly evaluations: readonly Evaluation[];
}

/** Small talk that needs no tool in any server. Some of it is sent with the tools of each plugin. */
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

/** Values for a slot that accepts any text. */
const WORDS = ['Vesper', 'Lantern', 'Juniper', 'Marigold', 'Quartz', 'Osprey', 'Saffron', 'Thistle'] as const;

/**
 * Every example of every chosen tool with its slots filled, what the plugins add, and small talk.
 * @throws UserError for an evaluation that names a tool of another plugin, or an unknown one
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
    const caseOf = (
      say: string,
      tool: string | undefined,
      input: Readonly<Record<string, unknown>>,
    ): EvaluationCase => {
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
            return caseOf(say, tool.name, input);
          }),
        ),
      ...ofPlugin
        .filter(({ tool }) => tool === undefined || isChosen(tool))
        .map(({ say, tool, input = {} }) => caseOf(say, tool, input)),
      ...shuffled(SMALL_TALK, (line) => line, `${seed}:${plugin}`)
        .slice(0, SMALL_TALK_FOR_EACH)
        .map((line) => caseOf(line, undefined, {})),
    ];
  });
}

/** The text for one slot, and the expected argument; `undefined` when several are correct. */
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

/** Chooses the text for a slot by the examples of its schema, otherwise by its type, otherwise by its name. */
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
  // The argument is not compared, since a time can be written in many ways.
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

/** The text for a slot with an object of Discord: an id when the slot is for ids, otherwise a name. */
function namedText(slot: string, scenery: Scenery): Filling | undefined {
  if (/emoji/i.test(slot)) return { said: '👍', expected: '👍' };
  if (/Ids?$/.test(slot)) {
    const [, id, sign] = IDS.find(([pattern]) => pattern.test(slot)) ?? [undefined, 'messageId' as const, ''];
    return { said: sign === '' ? scenery[id] : `<${sign}${scenery[id]}>`, expected: scenery[id] };
  }
  if (/^(?:member|user|author)s?$/i.test(slot)) return { said: '@alice', expected: 'alice' };
  return /^channels?$/i.test(slot) ? { said: '#general', expected: 'general' } : undefined;
}

/** Numbers for slots go up to this one, as in ordinary requests. */
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

/** Shuffled by the seed; an additional entry does not change the order of the others. */
function shuffled<T>(list: readonly T[], nameOf: (entry: T) => string, seed: string): readonly T[] {
  return list
    .map((entry) => ({ entry, at: numberOf(`${seed}:${nameOf(entry)}`) }))
    .sort((one, other) => one.at - other.at)
    .map(({ entry }) => entry);
}
