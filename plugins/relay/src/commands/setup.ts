import { type CommandContext, createKeyedMutex, plainText, type Subcommand, subcommand, visible } from '@cinnabar/sdk';
import { guildIdentity } from '../agents/identity.js';
import { ADMIN, agentNamed, agentOption, guildOf } from './desk.js';
import { type Place, type SetupDesk, type Step, setUp } from './setup-steps.js';

/** `!relay setup`: connects an agent to the bot's tools, and finds out whether it can post. */
export function setupCommand(desk: SetupDesk): Subcommand {
  return subcommand({
    name: 'setup',
    description: 'Give an agent its tools at the Letta server, and try whether it can post here',
    help: 'Each step is reported. What it had as a bearer before is void.',
    access: ADMIN,
    options: { agent: agentOption(desk.rosters) },
    async run(ctx, { agent: name }) {
      const guildId = guildOf(ctx);
      const { key, agent } = agentNamed(desk.rosters.of(guildId), name);
      const identity = guildIdentity(guildId, key);
      return report(desk, ctx, {
        guildId,
        userId: ctx.user.id,
        key,
        name: agent.name,
        agentId: agent.agentId,
        identity,
      });
    },
  });
}

/** All agents share one registration at the Letta server, so they are set up one after another. */
const settingUp = createKeyedMutex();

/** Carries the steps out and says what came of each. */
export async function report(desk: SetupDesk, ctx: CommandContext, place: Place): Promise<unknown> {
  await ctx.defer();
  const lines: string[] = [];
  await settingUp.run('', async () => {
    for await (const step of setUp(desk, place, ctx.channel, ctx.signal)) lines.push(lineOf(step));
  });
  return ctx.reply(lines.join('\n'));
}

function lineOf({ ok, text, todo }: Step): string {
  return `${ok ? '✓' : '✗'} ${plainText(visible(text))}${todo === undefined ? '' : ` ${todo}`}`;
}
