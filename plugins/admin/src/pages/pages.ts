import type { AllServers } from '../all-servers.js';
import type { AdminContext } from '../context.js';
import { registerAccessPage } from './access.js';
import { registerAuditPage } from './audit.js';
import { registerBotPages } from './bot.js';
import { registerBotPluginsPage } from './bot-plugins.js';
import { registerPluginsPage } from './plugins.js';
import { registerServerPages } from './server.js';
import { registerSettingsPages } from './settings.js';
import { registerToolsPage } from './tools.js';

/** What the commands of this plugin do, as pages of the dashboard: the same services, under the access rules of the same commands. */
export function registerPages(context: AdminContext, servers: AllServers): void {
  registerPluginsPage(context);
  registerSettingsPages(context);
  registerAccessPage(context);
  registerToolsPage(context);
  registerServerPages(context);
  registerAuditPage(context);
  registerBotPluginsPage(context);
  registerBotPages(context, servers);
}
