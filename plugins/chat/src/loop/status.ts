import {
  formatCount,
  type Llm,
  type LlmCompletion,
  type ModelTraits,
  type OwnerNotices,
  type SettingAdvisor,
  sentenceOf,
  type Turn,
  t,
  translated,
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

const LONGEST = 80;

/** The value of a key that applies in a channel, and its layer. */
function inForce({ config, origin }: EffectiveConfig, key: string) {
  const values: Readonly<Record<string, unknown>> = config;
  const from = origin[key] ?? 'default';
  return { value: values[key], origin: from === 'default' ? t('the default') : translated(from) };
}

/** The model and the applied settings of a channel, each with its layer, for `ai status`. */
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
    ...(set.length === 0 ? [t('Settings: all at their defaults')] : [t('Settings in force in this channel:')]),
    ...set.map(([key]) => {
      const { value, origin } = inForce(effective, key);
      return `• \`${key}\` = \`${shown(value)}\` (${origin})`;
    }),
    ...effective.problems.map((problem) => t('⚠️ Not used: {problem}', { problem })),
  ];
}

async function modelLines(effective: EffectiveConfig, llm: Llm | undefined): Promise<readonly string[]> {
  if (llm === undefined) return [t('Model: none is set up')];
  const { config } = effective;
  const chosen = config.continuationModel;
  const from = chosen === undefined ? t('of `llm`, the default') : inForce(effective, 'continuationModel').origin;
  try {
    const traits = await llm.traits(chosen);
    const mode = modeInForce(config, traits);

    return [
      t('Model: `{model}` by `{provider}` ({origin})', {
        model: traits.model,
        provider: traits.provider,
        origin: from,
      }),
      mode === config.mode
        ? t('Mode: `{mode}` ({origin})', { mode, origin: inForce(effective, 'mode').origin })
        : t('Mode: `{mode}` ({origin}; `{wanted}` is set, but this model does not take it)', {
            mode,
            origin: inForce(effective, 'mode').origin,
            wanted: config.mode,
          }),
    ];
  } catch (error) {
    const sentence = sentenceOf(error);
    if (sentence === undefined) throw error;
    return [t('Model: `{model}` ({origin}): {problem}', { model: chosen ?? '', origin: from, problem: sentence })];
  }
}

function shown(value: unknown): string {
  const text = (typeof value === 'string' ? value : (JSON.stringify(value) ?? ''))
    .replaceAll('`', 'ˋ')
    .replaceAll(/\s+/g, ' ');
  return text.length <= LONGEST ? text : `${text.slice(0, LONGEST)}…`;
}

/** Checks values that admins set, and shows the applied ones. */
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

/** Notifies the owners, once for each model, that `mode: prefill` is set for a model that does not support it. */
export function createPrefillNotices(notices: OwnerNotices) {
  const told = new Set<string>();
  return ({ config, origin }: EffectiveConfig, traits: ModelTraits): void => {
    const model = `${traits.provider}/${traits.model}`;
    if (config.mode === modeInForce(config, traits) || told.has(model)) return;
    told.add(model);
    notices.alert({
      kind: 'prefill-unavailable',
      text: () =>
        t('`mode: prefill` is set ({origin}), but the model {model} does not take it, so mode `chat` is used.', {
          origin: translated(origin.mode ?? 'default'),
          model: traits.model,
        }),
      remedy: () =>
        t('Set `mode: chat`, or choose a model that takes prefill. `!ai status` shows the mode in force in a channel.'),
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

/** The details of a reply for `!why`, except its cost. */
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
      .map(([key, origin]) => t('{key}, from {origin}', { key, origin: translated(origin) })),
    notes: [...notes, ...omittedIn(completions), ...effective.problems],
  };
}

function omittedIn(completions: readonly LlmCompletion[]): readonly string[] {
  const omitted = new Set(completions.flatMap((completion) => completion.omitted ?? []));
  return [...omitted].map((parameter) => t('{parameter} was left out: the model refuses it', { parameter }));
}

/** Why a turn is answered, in the first person. */
export function reasonFor({ trigger, earlier }: Turn): string {
  const reason = {
    command: t('I was asked by command'),
    mention: t('I was mentioned'),
    reply: t('I was replied to'),
    dm: t('I was written a direct message'),
    name: t('I was called by name'),
    random: t('I speak up at random here'),
    activate: t('I was activated by an m command'),
    continue: t('I was asked to go on'),
  }[trigger];
  return earlier.length === 0 ? reason : t('{reason}, and {count} more had waited', { reason, count: earlier.length });
}

type KnownFacts = Pick<ContextFacts, 'messages' | 'hidden' | 'images' | 'estimatedTokens' | 'rolled' | 'plan'> &
  Partial<Pick<ContextFacts, 'tools' | 'toolTokens' | 'systemTokens' | 'windowRule'>>;

/** How the context was built, for `!why`. */
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
    t('{messages, plural, one {# message} other {# messages}}', { messages }),
    ...(images === 0 ? [] : [t('{images, plural, one {# image} other {# images}}', { images })]),
    t('about {tokens} tokens', { tokens: formatCount(estimatedTokens) }),
    ...(hidden === 0
      ? []
      : [
          t('{hidden} not shown to me (dot messages, 🙃, 🫥, empty replies, what bots say about themselves)', {
            hidden,
          }),
        ]),
    ...(rolled ? [t('the oldest were cut off')] : []),
  ];
  const before =
    systemTokens === undefined
      ? []
      : [
          t(
            'Of these tokens: about {instructions} of instructions, about {ofTools} of {tools, plural, one {# tool} other {# tools}}',
            { instructions: formatCount(systemTokens), ofTools: formatCount(toolTokens), tools },
          ),
        ];
  return [
    t('Read: {what}', { what: read.join(', ') }),
    t('Cache: {plan}', { plan }),
    ...before,
    ...(windowRule === undefined ? [] : [t('Window: {rule}', { rule: windowRule })]),
  ];
}
