import {
  formatCount,
  type Llm,
  type LlmCompletion,
  type ModelTraits,
  type OwnerNotices,
  type SettingAdvisor,
  sentenceOf,
  type Turn,
  type WorkDetails,
} from '@cinnabar/sdk';
import type { Client, SendableChannels } from 'discord.js';
import type { ConfigSource } from '../config/chat-config.js';
import { cacheSettings } from '../config/guild-settings.js';
import { type EffectiveConfig, LEAVES } from '../config/keys.js';
import { modeInForce } from '../context/build.js';
import { missAfter } from '../context/caching/cache-state.js';
import type { BuiltContext, ContextFacts } from '../context/types.js';
import type { Invoked } from './tool-calls.js';

const BY_OWNER = 'the default';
const LONGEST = 80;

/** What holds for a key in a channel, and the layer that it comes from. */
function inForce({ config, origin }: EffectiveConfig, key: string) {
  const values: Readonly<Record<string, unknown>> = config;
  const from = origin[key] ?? 'default';
  return { value: values[key], origin: from === 'default' ? BY_OWNER : from };
}

/** The model that answers in a channel and the settings in force there, each with its layer: for `ai status`. */
export async function statusLines(
  channel: SendableChannels,
  config: ConfigSource,
  llm: Llm | undefined,
): Promise<readonly string[]> {
  const effective = await config.forChannel(channel);
  const set = Object.entries(effective.origin).filter(
    ([key, from]) => from !== 'default' && key !== 'continuationModel',
  );
  return [
    ...(await modelLines(effective, llm)),
    ...(set.length === 0 ? ['Settings: all at their defaults'] : ['Settings in force in this channel:']),
    ...set.map(([key]) => {
      const { value, origin } = inForce(effective, key);
      return `• \`${key}\` = \`${shown(value)}\` (${origin})`;
    }),
    ...effective.problems.map((problem) => `⚠️ Not used: ${problem}`),
  ];
}

async function modelLines(effective: EffectiveConfig, llm: Llm | undefined): Promise<readonly string[]> {
  if (llm === undefined) return ['Model: none is set up'];
  const { config } = effective;
  const chosen = config.continuationModel;
  const from = chosen === undefined ? 'of `llm`, the default' : inForce(effective, 'continuationModel').origin;
  try {
    const traits = await llm.traits(chosen);
    const mode = modeInForce(config, traits);
    const fellBack = mode === config.mode ? '' : `; \`${config.mode}\` is set, but this model does not take it`;
    return [
      `Model: \`${traits.model}\` by \`${traits.provider}\` (${from})`,
      `Mode: \`${mode}\` (${inForce(effective, 'mode').origin}${fellBack})`,
    ];
  } catch (error) {
    const sentence = sentenceOf(error);
    if (sentence === undefined) throw error;
    return [`Model: \`${chosen ?? ''}\` (${from}): ${sentence}`];
  }
}

function shown(value: unknown): string {
  const text = (typeof value === 'string' ? value : (JSON.stringify(value) ?? ''))
    .replaceAll('`', 'ˋ')
    .replaceAll(/\s+/g, ' ');
  return text.length <= LONGEST ? text : `${text.slice(0, LONGEST)}…`;
}

/** Judges what admins set, and says what holds where they are. */
export function createAdvisor(config: ConfigSource, client: Client): SettingAdvisor {
  return {
    refusalOf: async (key, value, { guildId }) =>
      guildId === null || key in cacheSettings.shape ? undefined : config.refusalOf(guildId, key, value),
    async inForce(key, { channelId }) {
      const channel = client.channels.cache.get(channelId);
      if (channel?.isSendable() !== true || !LEAVES.has(key)) return undefined;
      return inForce(await config.forChannel(channel), key);
    },
  };
}

export type TellPrefill = ReturnType<typeof createPrefillNotices>;

/** Tells the owners that `mode: prefill` is set for a model without it, once for each model. */
export function createPrefillNotices(notices: OwnerNotices) {
  const told = new Set<string>();
  return ({ config, origin }: EffectiveConfig, traits: ModelTraits): void => {
    const model = `${traits.provider}/${traits.model}`;
    if (config.mode === modeInForce(config, traits) || told.has(model)) return;
    told.add(model);
    notices.alert({
      kind: 'prefill-unavailable',
      text: `\`mode: prefill\` is set (${origin.mode ?? 'default'}), but the model ${traits.model} does not take it, so mode \`chat\` is used.`,
      remedy:
        'Set `mode: chat`, or choose a model that takes prefill. `!ai status` shows the mode in force in a channel.',
    });
  };
}

interface Answered {
  readonly messageIds: readonly string[];
  /** The model's answers, one for each round. */
  readonly completions: readonly LlmCompletion[];
  readonly built: BuiltContext;
  readonly effective: EffectiveConfig;
  readonly tools: readonly Invoked[];
  readonly notes: readonly string[];
}

/** What `!why` says of a reply, beside what it cost. */
export function workDetailsOf(answered: Answered): WorkDetails {
  const { messageIds, completions, built, effective, tools, notes } = answered;
  const [first] = completions;
  return {
    messageIds,
    details: detailsOf(built.facts),
    missCause: first && missAfter(built.facts, first.usage),
    tools: tools.map(({ use, outcome }) => ({ name: use.name, outcome })),
    configured: Object.entries(effective.origin)
      .filter(([, origin]) => origin !== 'default')
      .map(([key, origin]) => `${key}, from ${origin}`),
    notes: [...notes, ...omittedIn(completions), ...effective.problems],
  };
}

function omittedIn(completions: readonly LlmCompletion[]): readonly string[] {
  const omitted = new Set(completions.flatMap((completion) => completion.omitted ?? []));
  return [...omitted].map((parameter) => `${parameter} was left out: the model refuses it`);
}

const REASONS: Readonly<Record<Turn['trigger'], string>> = {
  command: 'was asked by command',
  mention: 'was mentioned',
  reply: 'was replied to',
  dm: 'was written a direct message',
  name: 'was called by name',
  random: 'speaks up at random here',
  activate: 'was activated by an m command',
  continue: 'was asked to go on',
};

/** Why a turn is answered, in the first person. */
export function reasonFor({ trigger, earlier }: Turn): string {
  const more = earlier.length === 0 ? '' : `, and ${earlier.length} more had waited`;
  return `I ${REASONS[trigger].replace(/^speaks/, 'speak')}${more}`;
}

type KnownFacts = Pick<ContextFacts, 'messages' | 'hidden' | 'images' | 'estimatedTokens' | 'rolled' | 'plan'> &
  Partial<Pick<ContextFacts, 'tools' | 'toolTokens' | 'systemTokens' | 'windowRule'>>;

/** How the context came about, for `!why`. */
export function detailsOf(facts: KnownFacts): readonly string[] {
  const {
    messages,
    hidden,
    images,
    estimatedTokens,
    rolled,
    plan,
    tools = 0,
    toolTokens = 0,
    systemTokens,
    windowRule,
  } = facts;
  const read = [
    plural(messages, 'message'),
    ...(images === 0 ? [] : [plural(images, 'image')]),
    `about ${formatCount(estimatedTokens)} tokens`,
    ...(hidden === 0
      ? []
      : [`${hidden} not shown to me (dot messages, 🙃, 🫥, empty replies, what bots say about themselves)`]),
    ...(rolled ? ['the oldest were cut off'] : []),
  ];
  const before =
    systemTokens === undefined
      ? []
      : [
          `Of these tokens: about ${formatCount(systemTokens)} of instructions, about ${formatCount(toolTokens)} of ${plural(tools, 'tool')}`,
        ];
  return [
    `Read: ${read.join(', ')}`,
    `Cache: ${plan}`,
    ...before,
    ...(windowRule === undefined ? [] : [`Window: ${windowRule}`]),
  ];
}

function plural(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`;
}
