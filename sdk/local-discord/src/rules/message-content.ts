import { GatewayIntentBits } from 'discord-api-types/v10';
import type { GatewaySession } from '../gateway/session.js';
import type { MessageViewer } from '../payload/message.js';
import type { LocalApplication } from '../state/application.js';
import type { LocalMessage } from '../state/message.js';

/** Without MessageContent a bot reads its own messages, DMs, and messages that mention it; of others only that they exist. */
function concerns(message: LocalMessage, application: LocalApplication): boolean {
  return (
    message.channel.isDm ||
    message.author.id === application.id ||
    message.applicationId === application.id ||
    message.mentions.users.includes(application.user)
  );
}

/** How a bot reads messages over REST: its application's switch decides. */
export function restViewer(application: LocalApplication): MessageViewer {
  const all = application.privilegedIntents.has('MessageContent');
  return { userId: application.id, content: (message) => all || concerns(message, application) };
}

/** How a session reads messages from the gateway: its intents decide. */
export function sessionViewer(session: GatewaySession): MessageViewer {
  const all = (session.intents & GatewayIntentBits.MessageContent) !== 0;
  return { userId: session.application.id, content: (message) => all || concerns(message, session.application) };
}

/** For what an application is shown of its own doing (webhooks, interactions): everything. */
export function fullViewer(userId: string): MessageViewer {
  return { userId, content: () => true };
}
