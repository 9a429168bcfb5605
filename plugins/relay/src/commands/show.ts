import type { IdentityGrant } from '@cinnabar/sdk';
import { grantOf, guildIdentity } from '../agents/identity.js';
import type { GuildAgent } from '../agents/roster.js';
import type { AgentDesk } from './agents.js';
import { agentNamed } from './desk.js';

/** What there is to say of a guild's agents, or of one. */
export async function showAgents(desk: AgentDesk, guildId: string, name: string | undefined): Promise<string> {
  const roster = desk.rosters.of(guildId);
  const one = agentNamed(roster, name);
  const chosen = name === undefined ? Object.entries(roster?.agents ?? {}) : ([[one.key, one.agent]] as const);
  const blocks = chosen.map(([key, agent]) => showOne(desk, guildId, key, agent, key === roster?.defaultAgent));
  return (await Promise.all(blocks)).join('\n\n');
}

async function showOne(desk: AgentDesk, guildId: string, key: string, agent: GuildAgent, isDefault: boolean) {
  const identity = guildIdentity(guildId, key);
  const grant = await grantOf(desk.identities, identity, guildId);
  const bearer = (await desk.hasBearer(identity))
    ? 'it has a bearer for the tools'
    : 'it has no bearer for the tools yet (`relay setup`)';
  return [
    `**${agent.name}**${isDefault ? ' (the default)' : ''}: agent \`${agent.agentId}\`, acts as \`${identity}\`; ${bearer}`,
    ...(agent.channels.length === 0 ? [] : [`• answers in ${channelList(agent.channels)}`]),
    ...(grant === undefined ? ['• may do nothing here'] : grantLines(grant)),
  ].join('\n');
}

function grantLines({ userId, channelId, channels, tools }: IdentityGrant): readonly string[] {
  const named = (policy: 'allow' | 'confirm') => Object.keys(tools).filter((name) => tools[name] === policy);
  const list = (names: readonly string[]) =>
    names.length === 0 ? 'none' : names.map((name) => `\`${name}\``).join(' ');
  return [
    `• let in by <@${userId}>, and never does what they could not; confirmations are asked for in <#${channelId}>`,
    `• channels: ${channels === 'all' ? 'all that they may see' : channelList(channels)}`,
    `• tools: ${list(named('allow'))}`,
    ...(named('confirm').length === 0 ? [] : [`• tools that wait for a 👍 each time: ${list(named('confirm'))}`]),
  ];
}

function channelList(channels: readonly string[]): string {
  return channels.length === 0 ? 'none' : channels.map((id) => `<#${id}>`).join(' ');
}
