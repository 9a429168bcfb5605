import { type CommandContext, option, type SettingInfo, type Subcommand, subcommand, UserError } from '@cinnabar/sdk';
import { PLUGIN } from '../agents/identity.js';
import { ADMIN, type Desk } from './desk.js';

export const RESET = 'default';

/** `!relay config`: the settings of this server. */
export function configCommand(desk: Desk): Subcommand {
  return subcommand({
    name: 'config',
    description: 'See and change the settings of this server',
    help: `Without a value it shows them. The value \`${RESET}\` undoes a change.`,
    access: ADMIN,
    options: {
      key: option
        .suggested(async (typed, { guildId, userId }) => {
          const all = guildId === null ? [] : await ofGuild(desk, { guildId, userId, channelId: '' });
          return all
            .filter(({ key }) => key.toLowerCase().includes(typed.toLowerCase()))
            .map(({ key }) => ({ name: key, value: key }));
        })
        .optional()
        .describe('Which setting'),
      value: option.rest().optional().describe(`The new value, or \`${RESET}\``),
    },
    examples: ['relay config', 'relay config agent_timeout 120', 'relay config quietHours 22:00-07:00'],
    async run(ctx, { key, value }) {
      const all = await ofGuild(desk, ctx.actor);
      if (key === undefined) return ctx.reply(all.map(line).join('\n'));
      const known = all.find((info) => info.key === key);
      if (known === undefined)
        throw new UserError(`There is no setting "${key}". There are ${all.map((info) => info.key).join(', ')}.`);
      if (value === undefined) return ctx.reply(line(known));
      await changeSetting(desk, ctx, key, value);
      // What was held back by the old value may go now.
      desk.queue.wake();
      const now = (await ofGuild(desk, ctx.actor)).find((info) => info.key === key) ?? known;
      return ctx.reply(`\`${key}\` is ${shown(now.value)} now: ${now.description}.`);
    },
  });
}

async function ofGuild({ catalog }: Desk, actor: CommandContext['actor']): Promise<readonly SettingInfo[]> {
  return (await catalog.describe(PLUGIN, actor)).filter(({ scope }) => scope === 'guild');
}

export function changeSetting({ catalog }: Desk, ctx: CommandContext, key: string, value: string): Promise<unknown> {
  return value.trim() === RESET ? catalog.reset(PLUGIN, key, ctx.actor) : catalog.set(PLUGIN, key, value, ctx.actor);
}

function line({ key, value, default: usual, type, description }: SettingInfo): string {
  const by = JSON.stringify(value) === JSON.stringify(usual) ? '' : ` (by default ${shown(usual)})`;
  return `• \`${key}\` = ${shown(value)}${by}: ${description}; ${type}`;
}

function shown(value: unknown): string {
  return value === '' || value === undefined ? 'nothing' : `\`${String(value)}\``;
}
