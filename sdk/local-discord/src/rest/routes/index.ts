import type { Route } from '../route.js';
import { applicationRoutes } from './applications.js';
import { attachmentRoutes } from './attachments.js';
import { banRoutes } from './bans.js';
import { channelRoutes } from './channels.js';
import { commandRoutes } from './commands.js';
import { gatewayRoutes } from './gateway.js';
import { guildRoutes } from './guilds.js';
import { interactionRoutes } from './interactions.js';
import { memberRoutes } from './members.js';
import { messageRoutes } from './messages.js';
import { pinRoutes } from './pins.js';
import { reactionRoutes } from './reactions.js';
import { roleRoutes } from './roles.js';
import { threadRoutes } from './threads.js';
import { userRoutes } from './users.js';
import { webhookMessageRoutes } from './webhook-messages.js';
import { webhookRoutes } from './webhooks.js';

/** Everything that the REST API answers, resource by resource. */
export const routes: readonly Route[] = [
  ...applicationRoutes,
  ...attachmentRoutes,
  ...banRoutes,
  ...channelRoutes,
  ...commandRoutes,
  ...gatewayRoutes,
  ...guildRoutes,
  ...interactionRoutes,
  ...memberRoutes,
  ...messageRoutes,
  ...pinRoutes,
  ...reactionRoutes,
  ...roleRoutes,
  ...threadRoutes,
  ...userRoutes,
  ...webhookMessageRoutes,
  ...webhookRoutes,
];
