import { ApplicationCommandType, InteractionType } from 'discord-api-types/v10';
import { sendInteraction, startInteraction } from '../actions/interactions.js';
import { interactionBase } from '../payload/interaction.js';
import { messagePayload } from '../payload/message.js';
import { resolvedUsers } from '../payload/resolved.js';
import { fullViewer } from '../rules/message-content.js';
import type { LocalChannel } from '../state/channel.js';
import type { LocalInteraction } from '../state/interaction.js';
import { LocalMessage } from '../state/message.js';
import type { LocalUser } from '../state/user.js';
import type { World } from '../state/world.js';
import { findCommand } from './find-command.js';

/** A command from the menu of a message, or of a person (then with the channel where it was opened). */
export function useContextMenu(
  world: World,
  user: LocalUser,
  name: string,
  target: LocalMessage | LocalUser,
  where?: LocalChannel,
): LocalInteraction {
  const channel = target instanceof LocalMessage ? target.channel : where;
  if (!channel) throw new Error('Say in which channel the menu was opened.');
  const type = target instanceof LocalMessage ? ApplicationCommandType.Message : ApplicationCommandType.User;
  const { application, command } = findCommand(world, user, channel, type, name);
  const interaction = startInteraction(world, application, user, channel, { kind: 'command', name, menu: true });
  const base = {
    ...interactionBase(interaction, world.clock.now()),
    type: InteractionType.ApplicationCommand as const,
  };
  const data = {
    id: command.id,
    name: command.name,
    target_id: target.id,
    ...(command.guild_id === undefined ? {} : { guild_id: command.guild_id }),
  };
  if (target instanceof LocalMessage) {
    const messages = { [target.id]: messagePayload(target, fullViewer(application.id)) };
    return sendInteraction(world, interaction, {
      ...base,
      data: { ...data, type: ApplicationCommandType.Message, resolved: { messages } },
    });
  }
  const resolved = resolvedUsers([target], channel.guild, world.clock.now());
  return sendInteraction(world, interaction, {
    ...base,
    data: { ...data, type: ApplicationCommandType.User, resolved },
  });
}
