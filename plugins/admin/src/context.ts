import {
  Access,
  AccessRules,
  AuditLog,
  Clock,
  Commands,
  HostInfo,
  PersonalDataStore,
  type PluginContext,
  Plugins,
  Prefixes,
  Random,
  SettingsCatalog,
  TierRoles,
  ToolPolicies,
  Tools,
} from '@cinnabar/sdk';

export const ID = 'admin';

export const inject = {
  access: Access,
  accessRules: AccessRules,
  audit: AuditLog,
  clock: Clock,
  random: Random,
  catalog: SettingsCatalog,
  commands: Commands,
  host: HostInfo,
  personalData: PersonalDataStore,
  plugins: Plugins,
  policies: ToolPolicies,
  prefixes: Prefixes,
  tierRoles: TierRoles,
  tools: Tools,
};

export type AdminContext = PluginContext<Record<never, never>, Record<never, never>, typeof inject>;
