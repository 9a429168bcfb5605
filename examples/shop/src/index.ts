import { definePlugin, UserError, z } from '@cinnabar/sdk';
import { Points } from './points.js';

const PRICES = { hat: 10, cake: 25 };

/** Sells items for the points of another plugin: it starts after that plugin, and waits while it is missing. */
export default definePlugin({
  manifest: { id: 'shop', version: '0.1.0', description: 'Sells things for points' },
  inject: { points: Points },
  setup({ command, services }) {
    command({
      name: 'buy',
      description: 'Buys something for points',
      access: { where: 'guild' },
      options: { thing: z.enum(['hat', 'cake']).describe('What to buy') },
      async run(context, { thing }) {
        const { guildId, userId } = context.actor;
        if (guildId === null) throw new UserError('This only works in a server.');
        const left = await services.points.take({ guildId, userId }, PRICES[thing]);
        await context.reply(`Here is your ${thing}. You have ${left} points left.`);
      },
    });
  },
});
