import type { IdentityGrant, McpEndpoint } from '@cinnabar/sdk';
import { LISTER, PLUGIN } from '../agents/permissions.js';
import type { Relay } from '../context.js';

/**
 * Runs a task with a temporary bearer that sees every tool of every agent of the relay. The Letta server keeps one list of tools for all of them,
 * and removes a tool that is missing from it from all: so one agent's bearer must not be used for it. The bearer's identity is in no channel, its
 * calls would wait for a 👍, and it is revoked when `task` has ended.
 * @param at who sets an agent up, and where
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

/** The names of other agents in the same home that have one of these tools, and whether there are such agents elsewhere. */
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
