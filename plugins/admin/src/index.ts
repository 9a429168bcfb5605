import { definePlugin } from '@cinnabar/sdk';
import { registerAccessCommands } from './access-commands.js';
import { type AllServers, createAllServers } from './all-servers.js';
import { registerAuditCommand, registerAuditPage } from './audit-command.js';
import { registerBackups } from './backup-commands.js';
import { registerBotCommands } from './bot-commands.js';
import { announcementsOfRed, registerServerNotices } from './bot-messages.js';
import { registerCluster } from './cluster-command.js';
import { type AdminContext, collections, ID, inject, settings } from './context.js';
import { registerDiagnose, registerDoctor } from './diagnose.js';
import { registerHelp } from './help.js';
import { registerIgnoreCommands } from './ignore-commands.js';
import { installSubcommands } from './install-commands.js';
import { registerLanguage } from './language-command.js';
import { registerMyData } from './my-data.js';
import { leaveRefusedServers, registerNewServers } from './new-servers.js';
import { registerAccessPage } from './pages/access.js';
import { registerBotPages } from './pages/bot.js';
import { registerBotPluginsPage } from './pages/bot-plugins.js';
import { registerLogPage } from './pages/log.js';
import { registerPluginsPage } from './pages/plugins.js';
import { registerServerPages } from './pages/server.js';
import { registerSettingsPages } from './pages/settings.js';
import { logMissingPermissions, registerPluginCommands } from './plugin-commands.js';
import { registerRoleCommands } from './role-commands.js';
import { registerSecrets } from './secrets-command.js';
import { registerServerCommands } from './server-commands.js';
import { registerPrefixCommands, registerSettingsCommands } from './settings-commands.js';
import { registerSettingsPanel } from './settings-panel.js';
import { registerCommandSwitches, registerToolCommands, registerToolsPage } from './tool-commands.js';

export default definePlugin({
  manifest: {
    id: ID,
    version: '1.0.0',
    description: 'Help, plugins, prefixes, settings and tool policies',
    host: '^0.1.0',
    intents: ['Guilds', 'GuildMessages', 'DirectMessages', 'MessageContent'],
    permissions: ['ViewChannel', 'SendMessages'],
    required: true,
    administrative: true,
  },
  settings,
  collections,
  inject,
  importers: [announcementsOfRed],
  setup(context) {
    registerHelp(context);
    const { services, settings: stored } = context;
    context.defer(services.commands.suggestWhere(async (guildId) => (await stored.guild(guildId).get()).suggestions));
    context.defer(services.notices.sendWhere(async (kind) => !(await stored.global.get()).mutedAlerts.includes(kind)));
    const servers = createAllServers(context);
    registerServerNotices(context, servers);
    registerPluginCommands(context, installSubcommands(context));
    registerAuditCommand(context);
    context.ready(() => logMissingPermissions(context));
    registerAccessCommands(context);
    registerIgnoreCommands(context);
    leaveRefusedServers(context);
    registerNewServers(context);
    registerRoleCommands(context);
    registerServerCommands(context);
    registerLanguage(context);
    registerBotCommands(context, servers);
    registerCluster(context);
    registerBackups(context);
    registerSecrets(context);
    registerPrefixCommands(context);
    registerSettingsCommands(context);
    registerSettingsPanel(context);
    registerToolCommands(context);
    registerCommandSwitches(context);
    registerDiagnose(context);
    registerDoctor(context);
    registerMyData(context);
    registerPages(context, servers);
  },
});

/** The pages of this plugin's commands: the same services, under the access rules of the same commands. */
function registerPages(context: AdminContext, servers: AllServers): void {
  registerPluginsPage(context);
  registerSettingsPages(context);
  registerAccessPage(context);
  registerToolsPage(context);
  registerServerPages(context);
  registerAuditPage(context);
  registerBotPluginsPage(context);
  registerBotPages(context, servers);
  registerLogPage(context);
}
