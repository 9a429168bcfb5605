import { type Access, type Actor, type Settings, TIERS, type ToolDefinition, z } from '@cinnabar/sdk';
import { maySpeak, SPEAKING } from './sending/spoken-for.js';

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

export type ToolSettings = Settings<typeof settings>;

/** Each turn pays for what it is told of: all of them come to some 9,000 tokens. */
const COMMON: ReadonlySet<string> = new Set([
  'discord_send',
  'discord_read_messages',
  'discord_search_messages',
  'discord_add_reaction',
  'discord_get_server_info',
  'discord_get_member',
  'discord_create_thread',
]);

/** Where each tool is worth offering, as the guild's admins have chosen; in direct messages the common ones. */
export function offeredBy(guildSettings: ToolSettings['guild'], access: Access) {
  return (definition: ToolDefinition): ToolDefinition => ({
    ...definition,
    async offered(actor: Actor) {
      const { guildId } = actor;
      if (SPEAKING.has(definition.name) && !(await maySpeak({ access, settings: guildSettings }, actor, guildId)))
        return false;
      const offer = guildId === null ? 'common' : (await guildSettings(guildId).get()).offer;
      return offer === 'all' || (offer === 'common' && COMMON.has(definition.name));
    },
  });
}
