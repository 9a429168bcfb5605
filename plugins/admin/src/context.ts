import {
  Access,
  AccessRules,
  AuditLog,
  Clock,
  Commands,
  GuildFiles,
  HostControl,
  HostInfo,
  Languages,
  Ledger,
  PersonalDataStore,
  type PluginContext,
  Plugins,
  Prefixes,
  Random,
  SettingsCatalog,
  TierRoles,
  ToolPolicies,
  Tools,
  z,
} from '@cinnabar/sdk';
import { restarts } from './bot-process.js';
import { presenceSettings } from './presence.js';

export const ID = 'admin';

export const inject = {
  access: Access,
  accessRules: AccessRules,
  audit: AuditLog,
  clock: Clock,
  random: Random,
  catalog: SettingsCatalog,
  commands: Commands,
  guildFiles: GuildFiles,
  control: HostControl,
  host: HostInfo,
  languages: Languages,
  ledger: Ledger,
  personalData: PersonalDataStore,
  plugins: Plugins,
  policies: ToolPolicies,
  prefixes: Prefixes,
  tierRoles: TierRoles,
  tools: Tools,
};

const language = (whose: string) =>
  z
    .string()
    .regex(/^[a-z]{2,3}(-[A-Z]{2})?$/, 'has to be a language such as en or de')
    .optional()
    .describe(`The language of ${whose}, such as en or de; without one that of their Discord, else English`);

export const settings = {
  global: z.object({
    ...presenceSettings,
    refusedServers: z
      .enum(['silent', 'leave'])
      .default('silent')
      .describe(
        'What the bot does when it is added to a server that the rules of its owner refuse: stay silent, or leave',
      ),
  }),
  guild: z.object({
    language: language('this server'),
    suggestions: z
      .boolean()
      .default(true)
      .describe('Whether a command that does not exist gets "Did you mean …?" when one is near'),
  }),
  user: z.object({ language: language('what the bot writes to you') }),
};

export const collections = { restarts };

export type AdminContext = PluginContext<typeof settings, typeof collections, typeof inject>;
