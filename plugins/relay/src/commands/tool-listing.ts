import type { Identities, IdentityGrant, McpEndpoint } from '@cinnabar/sdk';
import { LISTER, PLUGIN } from '../agents/grants.js';
import type { Rosters } from '../agents/roster.js';

export interface ListingParts {
  readonly endpoint: McpEndpoint;
  readonly identities: Identities;
  readonly rosters: Rosters;
  /** Who sets an agent up, and where. */
  readonly at: Pick<IdentityGrant, 'guildId' | 'userId' | 'channelId'>;
}

/**
 * Lends a bearer that sees every tool that any agent of the relay has. The Letta server keeps one list for all of them, and what is missing
 * from it is taken from all: so it must not be made with the eyes of one agent. It is in no channel, what it called would wait for a 👍,
 * and it is void as soon as `task` has ended.
 */
export async function whileListing<T>(
  { endpoint, identities, rosters, at }: ListingParts,
  task: (bearer: string) => Promise<T>,
): Promise<T> {
  const tools: Record<string, 'confirm'> = {};
  for (const { grants } of await agentsEverywhere(identities, rosters)) {
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

/** The names of other agents here that have one of these tools, and whether there are such agents elsewhere. */
export async function othersWith(
  tools: readonly string[],
  {
    identities,
    rosters,
    identity,
    guildId,
  }: Pick<ListingParts, 'identities' | 'rosters'> & {
    readonly identity: string;
    readonly guildId: string | null;
  },
): Promise<{ readonly here: readonly string[]; readonly elsewhere: boolean }> {
  const has = ({ tools: granted }: IdentityGrant) => tools.some((name) => Object.hasOwn(granted, name));
  const others = (await agentsEverywhere(identities, rosters)).filter(({ id }) => id !== identity && id !== LISTER);
  const concerned = others.filter(({ grants }) => grants.some(has));
  const isHere = ({ grants }: (typeof others)[number]) => grants.some((grant) => grant.guildId === guildId);
  return {
    here: concerned.filter(isHere).map(({ name }) => name),
    elsewhere: concerned.some((one) => !isHere(one)),
  };
}

async function agentsEverywhere(identities: Identities, rosters: Rosters) {
  const places = [null, ...[...rosters.all()].map(([guildId]) => guildId)];
  const all = await Promise.all(places.map((guildId) => identities.list(guildId)));
  return all.flat().filter(({ plugin }) => plugin === PLUGIN);
}
