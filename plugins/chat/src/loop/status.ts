import { type Llm, type ModelTraits, type OwnerNotices, type SettingAdvisor, sentenceOf } from '@cinnabar/sdk';
import type { Client, SendableChannels } from 'discord.js';
import { cacheSettings } from '../config/guild-settings.js';
import { type EffectiveConfig, LEAVES } from '../config/schema.js';
import { modeInForce } from '../context/mode.js';
import type { ConfigSource } from './config-source.js';

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
