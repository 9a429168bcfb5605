import { MessageType } from 'discord-api-types/v10';
import { discordError, invalidForm } from '../errors.js';
import { broadcast, type Scene } from '../gateway/dispatch.js';
import { requireInChannel } from '../rules/permissions.js';
import type { LocalChannel } from '../state/channel.js';
import type { LocalMessage } from '../state/message.js';
import { snowflakeAt } from '../state/snowflake.js';
import type { LocalUser } from '../state/user.js';
import type { World } from '../state/world.js';

const BULK_DELETE_REACHES_MS = 14 * 24 * 60 * 60_000;

/** Deletes as a user or bot would. @throws 50013 for another's message without ManageMessages, 50003 in a DM, 50021 */
export function deleteOwnMessage(world: World, user: LocalUser, message: LocalMessage): void {
  if (message.author.id !== user.id) {
    if (message.channel.isDm) throw discordError('wrongChannelTypeDm');
    requireInChannel(message.channel, user, world.clock.now(), 'ManageMessages');
  }
  if (message.type === MessageType.RecipientAdd) throw discordError('systemMessage');
  deleteMessage(world, message);
}

/** Deletes and tells everybody. */
export function deleteMessage(world: World, message: LocalMessage): void {
  const { channel, interaction } = message;
  forget(message);
  const scene: Scene = message.ephemeral && interaction ? { application: interaction.application } : { channel };
  const guild = message.ephemeral ? undefined : channel.guild;
  broadcast(world, 'MESSAGE_DELETE', scene, {
    id: message.id,
    channel_id: channel.id,
    ...(guild ? { guild_id: guild.id } : {}),
  });
  world.notify({ type: 'messageDelete', message });
}

/** Deletes 2 to 100 messages at once. Unknown ids are passed over. @throws 50003, 50013, 50016, 50034 */
export function bulkDelete(world: World, user: LocalUser, channel: LocalChannel, ids: readonly string[]): void {
  if (!channel.guild) throw discordError('wrongChannelTypeDm');
  requireInChannel(channel, user, world.clock.now(), 'ManageMessages');
  if (ids.length < 2 || ids.length > 100) throw discordError('bulkDeleteCount');
  if (ids.some((id) => !/^\d{1,20}$/.test(id))) {
    throw invalidForm({ path: ['messages'], code: 'NUMBER_TYPE_COERCE', message: 'Value is not snowflake.' });
  }
  const oldest = snowflakeAt(world.clock.now() - BULK_DELETE_REACHES_MS);
  if (ids.some((id) => BigInt(id) < oldest)) throw discordError('tooOldToBulkDelete');
  const found = [...new Set(ids)].flatMap((id) => channel.messagesById.get(id) ?? []);
  for (const message of found) forget(message);
  broadcast(
    world,
    'MESSAGE_DELETE_BULK',
    { channel },
    {
      ids: found.map((message) => message.id),
      channel_id: channel.id,
      guild_id: channel.guild.id,
    },
  );
  for (const message of found) world.notify({ type: 'messageDelete', message });
}

function forget(message: LocalMessage): void {
  message.deleted = true;
  message.channel.messagesById.delete(message.id);
}
