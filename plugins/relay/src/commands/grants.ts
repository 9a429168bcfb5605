import {
  type CommandContext,
  type IdentityGrant,
  option,
  type Subgroup,
  subcommand,
  subgroup,
  t,
  UserError,
  z,
} from '@cinnabar/sdk';
import { grantOf, guildIdentity, saveGrant } from '../agents/permissions.js';
import type { Relay } from '../context.js';
import { ADMIN, agentNamed, agentOption, guildOf } from './options.js';

export type GrantChange = (
  grant: IdentityGrant,
  name: string,
) => { readonly grant: IdentityGrant; readonly said: string };

/** The commands `!relay grant` and `!relay ungrant`: an agent's channels, tools and limits. A change applies from the agent's next call. */
export function grantCommands(relay: Relay): readonly Subgroup[] {
  const agent = agentOption(relay.rosters);
  const toolName = option
    .suggested((typed) =>
      relay.tools
        .list()
        .filter(({ name }) => name.startsWith(typed))
        .map(({ name }) => ({ name, value: name })),
    )
    .describe('The tool');
  const channel = option.channel().describe('The channel, with its threads, or a category with its channels');
  const change = async (ctx: CommandContext, name: string | undefined, by: GrantChange) =>
    ctx.reply(await changeGrant(relay, guildOf(ctx), name, by));
  return [
    subgroup({
      name: 'grant',
      description: 'Let an agent further: another channel, another tool',
      access: ADMIN,
      commands: [
        subcommand({
          name: 'channel',
          description: 'Let an agent into a channel, or a category',
          options: { channel, agent },
          run: (ctx, options) => change(ctx, options.agent, addChannel(options.channel.id)),
        }),
        subcommand({
          name: 'everywhere',
          description: 'Let an agent into every channel that you may see, also those of the team',
          options: { agent },
          run: (ctx, options) => change(ctx, options.agent, everywhere),
        }),
        subcommand({
          name: 'tool',
          description: 'Give an agent a tool',
          options: {
            tool: toolName,
            policy: z.enum(['allow', 'confirm']).default('allow').describe('`confirm`: each call waits for a 👍'),
            agent,
          },
          examples: ['relay grant tool discord_create_forum_post', 'relay grant tool discord_delete_message confirm'],
          run: (ctx, { tool, policy, agent }) => change(ctx, agent, setTool(relay, tool, policy)),
        }),
      ],
    }),
    subgroup({
      name: 'ungrant',
      description: 'Take back what an agent was granted',
      access: ADMIN,
      commands: [
        subcommand({
          name: 'channel',
          description: 'Take an agent out of a channel, or a category',
          options: { channel, agent },
          run: (ctx, options) => change(ctx, options.agent, removeChannel(options.channel.id)),
        }),
        subcommand({
          name: 'everywhere',
          description: 'Leave an agent only this channel',
          options: { agent },
          run: (ctx, options) => change(ctx, options.agent, onlyHere(ctx.channel.id)),
        }),
        subcommand({
          name: 'tool',
          description: 'Take a tool from an agent',
          options: { tool: z.string().describe('The tool'), agent },
          run: (ctx, options) => change(ctx, options.agent, removeTool(options.tool)),
        }),
      ],
    }),
  ];
}

/** @returns a sentence about the result */
export async function changeGrant(
  { rosters, identities }: Relay,
  guildId: string,
  name: string | undefined,
  by: GrantChange,
): Promise<string> {
  const { key, agent } = agentNamed(rosters.of(guildId), name);
  const id = guildIdentity(guildId, key);
  const grant = await grantOf(identities, id, guildId);
  if (grant === undefined)
    throw new UserError(t('`{agent}` has lost its rights. Let it in again with `relay agent`.', { agent: agent.name }));
  const changed = by(grant, agent.name);
  await saveGrant(identities, id, agent.name, changed.grant);
  return changed.said;
}

export const addChannel =
  (id: string): GrantChange =>
  (grant, name) => {
    if (grant.channels === 'all') return { grant, said: t('`{name}` may go everywhere already.', { name }) };
    const channels = [...new Set([...grant.channels, id])];
    return { grant: { ...grant, channels }, said: t('`{name}` may go into <#{id}> now.', { name, id }) };
  };

export const removeChannel =
  (id: string): GrantChange =>
  (grant, name) => {
    if (grant.channels === 'all')
      throw new UserError(t('`{name}` may go everywhere. `relay ungrant everywhere` comes first.', { name }));
    const channels = grant.channels.filter((one) => one !== id);
    return { grant: { ...grant, channels }, said: t('`{name}` may not go into <#{id}> any more.', { name, id }) };
  };

export const everywhere: GrantChange = (grant, name) => ({
  grant: { ...grant, channels: 'all' },
  said: t(
    '`{name}` may go wherever <@{userId}> may, also where others may not. What it reads there it can tell elsewhere.',
    { name, userId: grant.userId },
  ),
});

export const onlyHere =
  (id: string): GrantChange =>
  (grant, name) => ({
    grant: { ...grant, channels: [id] },
    said: t('`{name}` may go into <#{id}> and nowhere else.', { name, id }),
  });

/** @throws UserError for an unknown tool */
export function setTool({ tools }: Pick<Relay, 'tools'>, tool: string, policy: 'allow' | 'confirm'): GrantChange {
  if (!tools.list().some(({ name }) => name === tool))
    throw new UserError(t('There is no tool called "{tool}".', { tool }));
  return (grant, name) => ({
    grant: { ...grant, tools: { ...grant.tools, [tool]: policy } },
    said:
      policy === 'confirm'
        ? t('`{name}` may use `{tool}`; each call waits for a 👍. `relay setup {name}` attaches it.', { name, tool })
        : t('`{name}` may use `{tool}`. `relay setup {name}` attaches it.', { name, tool }),
  });
}

export const removeTool =
  (tool: string): GrantChange =>
  (grant, name) => {
    if (!Object.hasOwn(grant.tools, tool))
      throw new UserError(t('`{name}` has no tool called "{tool}".', { name, tool }));
    const { [tool]: _gone, ...tools } = grant.tools;
    return { grant: { ...grant, tools }, said: t('`{name}` may not use `{tool}` any more.', { name, tool }) };
  };
