import { type Actor, type Settings, type ToolDefinition, z } from '@cinnabar/sdk';

export const settings = {
  guild: z.object({
    offer: z
      .enum(['common', 'all', 'none'])
      .default('common')
      .describe(
        'Which of these tools a model is told of with every turn: the common ones for reading and writing, all, or none. Agents see what they were granted',
      ),
  }),
};

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
export function offeredBy(guildSettings: Settings<typeof settings>['guild']) {
  return (definition: ToolDefinition): ToolDefinition => ({
    ...definition,
    async offered({ guildId }: Actor) {
      const offer = guildId === null ? 'common' : (await guildSettings(guildId).get()).offer;
      return offer === 'all' || (offer === 'common' && COMMON.has(definition.name));
    },
  });
}
