import {
  Access,
  AuditLog,
  Clock,
  Commands,
  PersonalDataStore,
  type PluginContext,
  Plugins,
  Prefixes,
  Random,
  SettingsCatalog,
  ToolPolicies,
  Tools,
} from '@cinnabar/sdk';

export const ID = 'admin';

export const inject = {
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
};

export type AdminContext = PluginContext<Record<never, never>, Record<never, never>, typeof inject>;
