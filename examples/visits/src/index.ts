import { definePlugin, option, subcommand, UserError, z } from '@cinnabar/sdk';
import { ChannelType } from 'discord.js';

/** Greets new members in a channel that the guild's admins choose, and counts how often each person has come. */
export default definePlugin({
  manifest: {
    id: 'visits',
    version: '1.0.0',
    description: 'Greets new members, and counts how often each has come',
    intents: ['GuildMembers'],
    permissions: ['SendMessages'],
  },
  settings: {
    guild: z.object({
      channel: z.string().optional().describe('Where to greet; nowhere when it is not set').meta({ kind: 'channel' }),
      greeting: z.string().max(500).default('Welcome, {user}!').describe('{user} becomes a mention'),
    }),
  },
  collections: { visits: { scope: 'user', version: 1, schema: z.object({ count: z.number().default(0) }) } },
  setup({ group, on, settings, collections }) {
    on('guildMemberAdd', async (member) => {
      const { channel, greeting } = await settings.guild(member.guild).get();
      const visits = await collections.visits.of(member).update((draft) => {
        draft.count += 1;
      });
      const where = channel === undefined ? undefined : member.guild.channels.cache.get(channel);
      if (!where?.isTextBased()) return;
      const again = visits.count > 1 ? ` (visit ${visits.count})` : '';
      await where.send({
        content: greeting.replaceAll('{user}', `${member}`) + again,
        allowedMentions: { users: [member.id] },
      });
    });

    group({
      name: 'visits',
      description: 'Greeting of new members',
      access: { tier: 'admin', where: 'guild' },
      commands: [
        subcommand({
          name: 'here',
          description: 'Greets new members in a channel',
          options: { channel: option.channel([ChannelType.GuildText]).describe('The channel') },
          async run(context, { channel }) {
            if (context.guild === null) throw new UserError('This works in a guild only.');
            await settings.guild(context.guild).set({ channel: channel.id });
            await context.reply(`New members are greeted in ${channel}.`);
          },
        }),
      ],
    });
  },
});
