import {
  type CommandContext,
  type IdentityGrant,
  type McpEndpoint,
  option,
  plainText,
  t,
  UserError,
  visible,
} from '@cinnabar/sdk';
import { LISTER, PLUGIN } from '../agents/permissions.js';
import { byKey, type Chosen, type Roster, type Rosters } from '../agents/roster.js';
import type { Relay } from '../context.js';

export const ADMIN = { tier: 'admin', where: 'guild' } as const;

/** The guild of an admin command. Such commands only run in guilds. */
export function guildOf({ guild }: CommandContext): string {
  if (guild === null) throw new UserError(t('This is for servers. Use it in a channel of one.'));
  return guild.id;
}

/** The agent of that name; without a name, the only one or the default. @throws UserError with the existing names */
export function agentNamed(roster: Roster | undefined, name: string | undefined): Chosen {
  const agents = Object.entries(roster?.agents ?? {});
  if (roster === undefined || agents.length === 0) {
    throw new UserError(t('There is no agent here yet. Let one in with `relay agent <id> [name]`.'));
  }
  const [[only] = ['']] = agents;
  const wanted = name?.toLowerCase();
  const named = agents.find(([, agent]) => agent.name.toLowerCase() === wanted)?.[0];
  const key = wanted === undefined ? (agents.length === 1 ? only : roster.defaultAgent) : named;
  const chosen = byKey(roster, key);
  if (chosen !== undefined) return chosen;
  throw new UserError(
    name === undefined
      ? t('There is no agent chosen here. {known}', { known: known(roster) })
      : t('There is no agent called "{name}" here. {known}', { name, known: known(roster) }),
  );
}

function known({ agents }: Roster): string {
  const names = Object.values(agents).map(({ name }) => `\`${name}\``);
  return t('There {count, plural, one {is} other {are}} {names}.', { count: names.length, names: names.join(', ') });
}

/** An option for an agent's name, with suggestions. */
export function agentOption(rosters: Rosters) {
  return option
    .suggested((typed, { guildId }) =>
      Object.values((guildId === null ? undefined : rosters.of(guildId))?.agents ?? {})
        .filter(({ name }) => name.toLowerCase().startsWith(typed.toLowerCase()))
        .map(({ name }) => ({ name, value: name })),
    )
    .optional()
    .describe('Its name here; the default agent when left out');
}

/** A timestamp in the reader's time zone: `f` in full, `R` relative. */
export function timestamp(at: number, style: 'f' | 'R'): string {
  return `<t:${Math.floor(at / 1000)}:${style}>`;
}

/** A text as plain text, without Markdown and mentions, and with visible control characters. */
export function inert(text: string): string {
  return plainText(visible(text));
}

/**
 * Runs a task with a temporary token that sees every tool of every agent of the relay. The Letta server keeps one list of tools for all of them, and removes a
 * tool that is missing in it from all agents, so an agent's own token must not be used. The token's identity is in no channel, its calls would need a
 * confirmation, and it is revoked when `task` has ended.
 * @param at the user who sets an agent up, and the place
 */
export async function whileListing<T>(
  relay: Relay,
  endpoint: McpEndpoint,
  at: Pick<IdentityGrant, 'guildId' | 'userId' | 'channelId'>,
  task: (bearer: string) => Promise<T>,
): Promise<T> {
  const { identities } = relay;
  const tools: Record<string, 'confirm'> = {};
  for (const { grants } of await agentsEverywhere(relay)) {
    for (const grant of grants) for (const name of Object.keys(grant.tools)) tools[name] = 'confirm';
  }
  await identities.save({
    id: LISTER,
    plugin: PLUGIN,
    name: 'list of the tools',
    grants: [{ ...at, channels: [], tools }],
  });
  try {
    const { bearer } = await endpoint.issue(LISTER);
    return await task(bearer);
  } finally {
    await identities.remove(LISTER);
    await endpoint.revoke(LISTER);
  }
}

/** The names of other agents in the same home that have one of these tools, and whether agents elsewhere have one. */
export async function othersWith(
  tools: readonly string[],
  relay: Relay,
  { identity, guildId }: { readonly identity: string; readonly guildId: string | null },
): Promise<{ readonly here: readonly string[]; readonly elsewhere: boolean }> {
  const has = ({ tools: granted }: IdentityGrant) => tools.some((name) => Object.hasOwn(granted, name));
  const others = (await agentsEverywhere(relay)).filter(({ id }) => id !== identity && id !== LISTER);
  const concerned = others.filter(({ grants }) => grants.some(has));
  const isHere = ({ grants }: (typeof others)[number]) => grants.some((grant) => grant.guildId === guildId);
  return {
    here: concerned.filter(isHere).map(({ name }) => name),
    elsewhere: concerned.some((one) => !isHere(one)),
  };
}

async function agentsEverywhere({ identities, rosters }: Relay) {
  const places = [null, ...[...rosters.all()].map(([guildId]) => guildId)];
  const all = await Promise.all(places.map((guildId) => identities.list(guildId)));
  return all.flat().filter(({ plugin }) => plugin === PLUGIN);
}
