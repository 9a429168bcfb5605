import { definePlugin, option, UserError, z } from '@cinnabar/sdk';
import { Points } from './token.js';

/** Points of members. Other plugins inject `Points`. */
export default definePlugin({
  manifest: { id: 'points', version: '0.1.0', description: 'Points that other plugins can give and take' },
  collections: { points: { scope: 'member', version: 1, schema: z.object({ count: z.number().default(0) }) } },
  provides: [Points],
  setup({ command, provide, collections }) {
    const points: Points = {
      of: async (member) => (await collections.points.of(member).get()).count,
      give: async (member, count) => {
        const changed = await collections.points.of(member).update((draft) => {
          draft.count += count;
        });
        return changed.count;
      },
      take: async (member, count) => {
        const changed = await collections.points.of(member).update((draft) => {
          if (draft.count < count) throw new UserError(`That costs ${count} points, and you have ${draft.count}.`);
          draft.count -= count;
        });
        return changed.count;
      },
    };
    provide(Points, points);

    command({
      name: 'points',
      description: 'Shows how many points you have',
      access: { where: 'guild' },
      async run({ member, reply }) {
        if (member === null) return;
        await reply(`You have ${await points.of({ guildId: member.guild.id, userId: member.id })} points.`);
      },
    });
    command({
      name: 'reward',
      description: 'Gives a member points',
      access: { tier: 'mod', where: 'guild' },
      options: {
        member: option.member().describe('Whom to reward'),
        count: z.number().int().min(1).max(1000).default(10).describe('How many points'),
      },
      async run(context, { member, count }) {
        const now = await points.give({ guildId: member.guild.id, userId: member.id }, count);
        await context.reply(`${member} has ${now} points now.`);
      },
    });
  },
});
