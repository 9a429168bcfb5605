import {
  Access,
  AuditLog,
  Clock,
  Commands,
  createAskFirst,
  definePlugin,
  PersonalDataStore,
  Plugins,
  Prefixes,
  Random,
  SettingsCatalog,
  ToolPolicies,
  Tools,
} from '@cinnabar/sdk';
import { registerAuditCommand } from './audit-command.js';
import { registerHelp } from './help/command.js';
import { tellMissingPermissions } from './missing-permissions.js';
import { registerMyData } from './my-data.js';
import { registerPluginCommands } from './plugin-commands.js';
import { registerPrefixCommands } from './prefix-commands.js';
import { registerSettingsCommands } from './settings-commands.js';
import { registerToolCommands } from './tool-commands.js';

const ID = 'admin';

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
  inject: {
    access: Access,
    audit: AuditLog,
    clock: Clock,
    random: Random,
    catalog: SettingsCatalog,
    commands: Commands,
    personalData: PersonalDataStore,
    plugins: Plugins,
    policies: ToolPolicies,
    prefixes: Prefixes,
    tools: Tools,
  },
  setup({ command, component, group, ready, client, services, log }) {
    const askFirst = createAskFirst({ component, ...services, access: { tier: 'admin', where: 'guild' } });
    registerHelp({ command }, services);
    registerPluginCommands({ group, log }, { ...services, askFirst, ownId: ID });
    registerAuditCommand({ command }, services.audit);
    ready(() => tellMissingPermissions({ client, plugins: services.plugins, log }));
    registerPrefixCommands({ group }, services.prefixes);
    registerSettingsCommands({ command }, services);
    registerToolCommands({ group }, services);
    registerMyData({ group }, services.personalData);
  },
});
