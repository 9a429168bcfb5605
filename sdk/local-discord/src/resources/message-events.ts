import { MessageFlags } from 'discord-api-types/v10';
import { type EventScope, receivingSessions } from '../gateway/dispatch.js';
import { messageEventPayload } from '../payload/messages.js';
import { sessionViewer } from '../rules/messages.js';
import type { LocalMessage } from '../state/messages.js';
import type { World } from '../world.js';

/** MESSAGE_CREATE to every bot that receives it, and `messageCreate` to observers (unless it only says "thinking…"). */
export function announceMessage(world: World, message: LocalMessage): void {
  sendMessageEvent(world, 'MESSAGE_CREATE', message);
  if (!(message.flags & MessageFlags.Loading)) world.notify({ type: 'messageCreate', message });
}

/** MESSAGE_UPDATE; what was "thinking…" until now counts as new to observers. */
export function announceEdit(world: World, message: LocalMessage, wasLoading: boolean): void {
  sendMessageEvent(world, 'MESSAGE_UPDATE', message);
  world.notify({ type: wasLoading ? 'messageCreate' : 'messageEdit', message });
}

/** The payload is the same for all bots but for two things: whether content shows, and whose reactions are `me`. */
function sendMessageEvent(world: World, event: 'MESSAGE_CREATE' | 'MESSAGE_UPDATE', message: LocalMessage): void {
  const versions = new Map<string, string>();
  for (const session of receivingSessions(world, event, scopeOf(message))) {
    const viewer = sessionViewer(session);
    const key = `${viewer.content(message)}${message.reactionsByKey.size > 0 ? viewer.userId : ''}`;
    const json = versions.get(key) ?? JSON.stringify(messageEventPayload(message, viewer));
    versions.set(key, json);
    session.dispatch(event, json);
  }
}

/** An ephemeral message goes to the bot that sent it only, and by the DirectMessages intent. */
function scopeOf(message: LocalMessage): EventScope {
  const { interaction } = message;
  return message.ephemeral && interaction ? { application: interaction.application } : { channel: message.channel };
}
