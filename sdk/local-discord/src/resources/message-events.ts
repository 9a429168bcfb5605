import { MessageFlags } from 'discord-api-types/v10';
import { type EventScope, receivingSessions } from '../gateway/dispatch.js';
import { messageEventPayload } from '../payload/messages.js';
import { sessionViewer } from '../rules/messages.js';
import type { LocalMessage } from '../state/messages.js';
import type { World } from '../world.js';

/** Sends MESSAGE_CREATE to every bot that receives it, and `messageCreate` to observers (unless it only shows "thinking…"). */
export function announceMessage(world: World, message: LocalMessage): void {
  sendMessageEvent(world, 'MESSAGE_CREATE', message);
  if (!(message.flags & MessageFlags.Loading)) world.notify({ type: 'messageCreate', message });
}

/** Sends MESSAGE_UPDATE. For observers, the edit of a message that showed "thinking…" is a `messageCreate`. */
export function announceEdit(world: World, message: LocalMessage, wasLoading: boolean): void {
  sendMessageEvent(world, 'MESSAGE_UPDATE', message);
  world.notify({ type: wasLoading ? 'messageCreate' : 'messageEdit', message });
}

/** The payload differs between bots in two properties only: whether content is included, and the reactions that are `me`. */
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

/** An ephemeral message goes only to the bot that sent it, and by the DirectMessages intent. */
function scopeOf(message: LocalMessage): EventScope {
  const { interaction } = message;
  return message.ephemeral && interaction ? { application: interaction.application } : { channel: message.channel };
}
