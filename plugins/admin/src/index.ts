import {
  Access,
  Commands,
  definePlugin,
  PersonalDataStore,
  Plugins,
  Prefixes,
  SettingsCatalog,
  ToolPolicies,
  Tools,
} from '@cinnabar/sdk';
import { registerHelp } from './help/command.js';
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
    catalog: SettingsCatalog,
    commands: Commands,
    personalData: PersonalDataStore,
    plugins: Plugins,
    policies: ToolPolicies,
    prefixes: Prefixes,
    tools: Tools,
  },
  setup({ command, group, services, log }) {
    registerHelp({ command }, services);
    registerPluginCommands({ group, log }, { ...services, ownId: ID });
    registerPrefixCommands({ group }, services.prefixes);
    registerSettingsCommands({ command }, services);
    registerToolCommands({ group }, services);
    registerMyData({ group }, services.personalData);
  },
});
