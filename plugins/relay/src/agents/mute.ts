import type { Access, Identities, ToolPolicies, Tools } from '@cinnabar/sdk';
import { type Client, DiscordAPIError, RESTJSONErrorCodes } from 'discord.js';
import { grantOf, guildIdentity } from './identity.js';

export const POST_TOOL = 'discord_send';

export interface MuteParts {
  readonly access: Pick<Access, 'decide'>;
  readonly identities: Identities;
  readonly policies: Pick<ToolPolicies, 'get'>;
  readonly tools: Pick<Tools, 'list'>;
  readonly client: Client;
}

export interface Mute {
  /** For members, as a clause. */
  readonly text: string;
  /** What an admin can do about it. */
  readonly todo: string;
}

/**
 * Why an agent of a guild cannot post in a channel at the moment, although it was let in: its rights are those of the member who let it in, under
 * the policies of the server. `undefined` while it can, or where it was not meant to: it was not granted the tool.
 */
export async function muteIn(
  guildId: string,
  { key, name }: { readonly key: string; readonly name: string },
  channelId: string,
  { access, identities, policies, tools, client }: MuteParts,
): Promise<Mute | undefined> {
  const identity = guildIdentity(guildId, key);
  const grant = await grantOf(identities, identity, guildId);
  const again = `An admin who may post lets it in again: \`relay agent\` with its id and the name \`${name}\`.`;
  if (grant === undefined) return { text: 'it has lost its rights here', todo: again };
  if (!Object.hasOwn(grant.tools, POST_TOOL)) return undefined;
  const tool = tools.list().find((one) => one.name === POST_TOOL);
  if (tool === undefined)
    return { text: 'the tools for Discord are not there', todo: 'The owner of the bot loads `discord-tools`.' };
  if ((await policies.get(guildId, POST_TOOL)) === 'deny') {
    return {
      text: `the policy of this server forbids \`${POST_TOOL}\``,
      todo: `\`tool policy ${POST_TOOL} allow\` permits it.`,
    };
  }
  const { userId } = grant;
  if (await hasLeft(client, guildId, userId))
    return { text: 'the member who let it in has left this server', todo: again };
  const { allowed, reasons } = await access.decide(
    { userId, guildId, channelId: grant.channelId, identity },
    { kind: 'tool', name: POST_TOOL, plugin: tool.plugin, policy: tool.access, at: { guildId, channelId } },
  );
  if (reasons.some((reason) => reason.rule === 'plugin-enabled' && !reason.allowed))
    return {
      text: `\`${tool.plugin}\`, which it posts with, is switched off here`,
      todo: `\`plugin enable ${tool.plugin}\` switches it on.`,
    };
  return allowed ? undefined : { text: 'the member who let it in may not post there, or I may not', todo: again };
}

async function hasLeft(client: Client, guildId: string, userId: string): Promise<boolean> {
  try {
    await client.guilds.cache.get(guildId)?.members.fetch({ user: userId, force: true });
    return false;
  } catch (error) {
    return error instanceof DiscordAPIError && error.code === RESTJSONErrorCodes.UnknownMember;
  }
}
