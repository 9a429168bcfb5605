import {
  Access,
  AccessRules,
  AuditLog,
  Backups,
  Clock,
  Cluster,
  Commands,
  Doctor,
  GuildFiles,
  HostControl,
  HostInfo,
  Languages,
  Ledger,
  LogReader,
  OwnerNotices,
  PersonalDataStore,
  type PluginContext,
  PluginPackages,
  Plugins,
  Prefixes,
  Random,
  Secrets,
  SettingsCatalog,
  TierRoles,
  ToolPolicies,
  Tools,
  z,
} from '@cinnabar/sdk';
import { restarts } from './bot-process.js';
import { begunServers, newServers } from './new-servers.js';
import { presenceSettings } from './presence.js';

export const ID = 'admin';

export const inject = {
  access: Access,
  accessRules: AccessRules,
  audit: AuditLog,
  backups: Backups,
  clock: Clock,
  cluster: Cluster,
  random: Random,
  catalog: SettingsCatalog,
  secrets: Secrets,
  commands: Commands,
  guildFiles: GuildFiles,
  control: HostControl,
  doctor: Doctor,
  host: HostInfo,
  languages: Languages,
  ledger: Ledger,
  logs: LogReader,
  notices: OwnerNotices,
  personalData: PersonalDataStore,
  packages: PluginPackages,
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
    backupHours: z
      .number()
      .int()
      .min(0)
      .max(24 * 31)
      .default(0)
      .describe('Every how many hours the bot backs up its data by itself; 0 means never'),
    backupKeep: z
      .number()
      .int()
      .min(1)
      .max(1_000)
      .default(7)
      .describe('How many of the backups that it made by itself are kept; the others go, the oldest first'),
    backupFolder: z
      .string()
      .min(1)
      .max(500)
      .optional()
      .describe('Folder for backups, best on another disk; without one the folder backups of the data'),
    refusedServers: z
      .enum(['silent', 'leave'])
      .default('silent')
      .describe(
        'What the bot does when it is added to a server that the rules of its owner refuse: stay silent, or leave',
      ),
    serverNotices: z
      .boolean()
      .default(true)
      .describe('Whether the owner of the bot gets a message when it is added to a server, or removed from one'),
    contact: z.boolean().default(true).describe('Whether members may write to the owner of the bot with bot contact'),
    mutedAlerts: z
      .array(z.string().regex(/^[a-z][a-z0-9-]{1,39}$/, 'give the kind of an alert, such as model-resting'))
      .max(50)
      .default([])
      .describe(
        'Alerts that are not sent to the owner of the bot, by their kind, such as model-resting; they are still logged',
      ),
  }),
  guild: z.object({
    language: language('this server'),
    suggestions: z
      .boolean()
      .default(true)
      .describe('Whether a command that does not exist gets "Did you mean …?" when one is near'),
    announcements: z
      .string()
      .meta({ kind: 'channel' })
      .optional()
      .describe('Where the owner of the bot announces something; by default the channel in which Discord greets'),
  }),
  user: z.object({ language: language('what the bot writes to you') }),
};

export const collections = { begunServers, newServers, restarts };

export type AdminContext = PluginContext<typeof settings, typeof collections, typeof inject>;
