import {
  type Access,
  type Actor,
  type Clock,
  type Identities,
  type PluginContext,
  type Settings,
  TIERS,
  type Tier,
  type TierRoles,
  type ToolDefinition,
  type ToolPolicies,
  z,
} from '@cinnabar/sdk';
import type { Client } from 'discord.js';
import type { SentMessages } from './sending.js';

export const PLUGIN = 'discord-tools';

/** The context of every tool of the plugin. */
export interface Context {
  readonly client: Client;
  readonly access: Access;
  readonly policies: ToolPolicies;
  readonly tierRoles: Pick<TierRoles, 'list'>;
  readonly clock: Clock;
  readonly sent: SentMessages;
  readonly identities: Pick<Identities, 'profile'>;
  readonly question: PluginContext['question'];
  /** The settings of a guild; `null` for those of direct messages. */
  readonly settings: ToolSettings['guild'];
}

/** The calling member or agent, and the called tool: the subject of an access decision. */
export interface Caller {
  readonly actor: Actor;
  readonly tool: string;
}

export const settings = {
  guild: z.object({
    offer: z
      .enum(['common', 'all', 'none'])
      .default('common')
      .describe(
        'Which of these tools a model is told of with every turn: the common ones for reading and writing, all, or none. Agents see what they were granted',
      ),
    speakFor: z
      .enum([...TIERS, 'nobody'])
      .default('mod')
      .describe(
        'From which tier on the bot sends messages for a member when a model asks for it; agents go by their grants',
      ),
    mark: z
      .enum(['line', 'none'])
      .default('line')
      .describe('Whether a message that is sent for a member begins with a small line that says for whom'),
  }),
};

type ToolSettings = Settings<typeof settings>;

/** Tools that are offered with `offer: 'common'`. Every turn pays for the offered tools; all tools together take about 9,000 tokens. */
const COMMON: ReadonlySet<string> = new Set([
  'discord_send',
  'discord_read_messages',
  'discord_search_messages',
  'discord_add_reaction',
  'discord_get_server_info',
  'discord_get_member',
  'discord_create_thread',
]);

/** Tools with which the bot sends a member's text. */
const SPEAKING: ReadonlySet<string> = new Set([
  'discord_send',
  'discord_edit_message',
  'discord_reply_to_forum',
  'discord_create_forum_post',
  'discord_send_webhook_message',
]);

/** A tool according to the guild's settings: whether it is offered to models (in direct messages, only common ones are), and who may send with it. */
export function bySettings(context: Context, definition: ToolDefinition): ToolDefinition {
  const isSpeaking = SPEAKING.has(definition.name);
  return {
    ...definition,
    ...(isSpeaking ? { access: { ...definition.access, tierFrom: (actor) => speakersIn(context, actor) } } : {}),
    async offered(actor: Actor) {
      const { guildId } = actor;
      const offer = guildId === null ? 'common' : (await context.settings(guildId).get()).offer;
      return offer === 'all' || (offer === 'common' && COMMON.has(definition.name));
    },
  };
}

/** The lowest tier for which the bot sends messages. An agent is not restricted here, because it writes for itself, within its grants. */
async function speakersIn({ settings }: Context, { guildId, identity }: Actor): Promise<Tier | 'nobody'> {
  return guildId === null || identity !== undefined ? 'everyone' : (await settings(guildId).get()).speakFor;
}
