import { definePlugin, Random, z } from '@cinnabar/sdk';

/** Rolls dice for members (`!roll 20`, `/roll sides:20`) and for the AI (`!ai roll a die with 20 sides`), from one schema. */
export default definePlugin({
  manifest: { id: 'dice', version: '1.0.0', description: 'Rolls dice' },
  inject: { random: Random },
  setup({ command, tool, services }) {
    const sides = z.number().int().min(2).max(1000).default(6).describe('How many sides');
    const roll = (count: number) => `🎲 ${1 + Math.floor(services.random.next() * count)}`;

    command({
      name: 'roll',
      description: 'Rolls a die',
      options: { sides },
      run: (context, options) => context.reply(roll(options.sides)),
    });
    tool({
      name: 'roll_die',
      description: 'Roll a die and tell what came up.',
      input: z.object({ sides }),
      risk: 'read',
      examples: ['roll a die', 'roll a die with {sides} sides'],
      run: (input) => roll(input.sides),
    });
  },
});
