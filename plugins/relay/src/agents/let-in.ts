import { type Identities, UserError } from '@cinnabar/sdk';
import type { Channel } from 'discord.js';
import type { Chosen } from './choose.js';
import { grantOf, guildIdentity } from './identity.js';
import { isLetInto } from './places.js';

/** @throws UserError when a guild's agent has not been let into the channel, with how to change that */
export async function assertLetIn(
  identities: Identities,
  guildId: string,
  { key, agent: { name } }: Chosen,
  channel: Channel,
): Promise<void> {
  const grant = await grantOf(identities, guildIdentity(guildId, key), guildId);
  if (grant !== undefined && isLetInto(grant.channels, channel)) return;
  throw new UserError(
    `\`${name}\` has not been let into this channel. An admin can do that: \`relay grant channel\` <#${channel.id}> \`${name}\`.`,
  );
}
