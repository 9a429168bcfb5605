import { PermissionFlagsBits, type SendableChannels } from 'discord.js';
import type { Members } from '../access/members.js';
import { mayBotRead } from '../access/permissions.js';
import type { Ask } from '../ask.js';
import type { PinnedConfig } from '../types.js';
import { isFor, parseConfig } from './parse.js';
import type { Pin, Pins } from './pins.js';

/** The pinned configuration that holds in a channel: in a thread, its parent's and then its own. */
export async function configsOf(
  channel: SendableChannels,
  names: readonly string[] | undefined,
  pins: Pins,
  members: Members,
  ask: Ask,
): Promise<readonly PinnedConfig[]> {
  // In a direct message everybody can pin, and nobody answers for it.
  if (channel.isDMBased() || !mayBotRead(channel)) return [];
  const found: PinnedConfig[] = [];
  for (const place of withParent(channel)) {
    for (const pin of await pins.of(place, ask)) {
      const text = parseConfig(pin.content);
      if (text === undefined || !isFor(text, channel.client.user.id, names ?? namesOn(channel))) continue;
      if (isOwnOrNobodys(pin, place)) continue;
      if (await isApproved(pin, place, members, ask)) found.push({ messageId: pin.messageId, yaml: text.yaml });
    }
  }
  return found;
}

function withParent(channel: SendableChannels): readonly SendableChannels[] {
  if (!channel.isThread() || channel.parent === null || channel.parent.isThreadOnly()) return [channel];
  return mayBotRead(channel.parent) ? [channel.parent, channel] : [channel];
}

function namesOn(channel: SendableChannels): readonly string[] {
  const { user } = channel.client;
  const nickname = channel.isDMBased() ? undefined : channel.guild.members.me?.displayName;
  return [user.username, user.displayName, ...(nickname === undefined ? [] : [nickname])];
}

/** What the bot says, and what comes through a webhook, may be what a member had it say: it configures nothing, even when an admin pinned it. */
function isOwnOrNobodys({ authorId }: Pin, { client }: SendableChannels): boolean {
  return authorId === null || authorId === client.user.id;
}

/**
 * Whoever pinned it stands for what it said then. Edited since, it counts only when its author might have pinned it too: otherwise a member's
 * harmless message, once pinned, could be turned into configuration.
 */
async function isApproved(pin: Pin, channel: SendableChannels, members: Members, ask: Ask): Promise<boolean> {
  if (pin.editedAt === null || pin.editedAt <= pin.pinnedAt) return true;
  if (channel.isDMBased() || pin.authorId === null) return false;
  const member = await members.find(channel.guild, pin.authorId, ask);
  const permissions = member === undefined ? null : channel.permissionsFor(member);
  if (permissions === null) return false;
  return permissions.has(PermissionFlagsBits.ManageMessages) || permissions.has(PermissionFlagsBits.PinMessages);
}
