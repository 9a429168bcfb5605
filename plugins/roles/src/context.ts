import {
  Access,
  AuditLog,
  Clock,
  Languages,
  type PluginContext,
  Random,
  SettingsCatalog,
  TierRoles,
  z,
} from '@cinnabar/sdk';
import { menuSchema } from './menus.js';

export const ID = 'roles';

/** Discord's limits for one message bound how many roles a menu has; the others are far beyond what a server needs. */
export const LIMITS = { joinRoles: 10, menus: 25, bindings: 200, waiting: 1_000 } as const;

const roleList = z.array(z.string().meta({ kind: 'role' })).max(LIMITS.joinRoles);

export const settings = {
  guild: z.object({
    joinRoles: roleList.default([]).describe('Roles that members get when they join'),
    botRoles: roleList.default([]).describe('Roles that bots get when they are added'),
    afterScreening: z
      .boolean()
      .default(true)
      .describe(
        'Whether new members get their roles only after they have accepted the rules of the server, where it has the screening of Discord',
      ),
    reportChannel: z
      .string()
      .meta({ kind: 'channel' })
      .optional()
      .describe('Channel in which I say that a role can no longer be given, and why; by default only the log has it'),
  }),
};

const bindingSchema = z.object({
  channelId: z.string(),
  messageId: z.string(),
  /** The id of a custom emoji; else the emoji itself. */
  emoji: z.string(),
  roleId: z.string(),
});
export type Binding = z.output<typeof bindingSchema>;

export const collections = {
  menus: {
    scope: 'guild',
    version: 1,
    schema: z.object({ menus: z.array(menuSchema).max(LIMITS.menus).default([]) }),
  },
  reactions: {
    scope: 'guild',
    version: 1,
    schema: z.object({ bindings: z.array(bindingSchema).max(LIMITS.bindings).default([]) }),
  },
  /** Dangerous roles that the guild's owner lets the bot give away, with the permissions and tiers that they had then. */
  confirmed: {
    scope: 'guild',
    version: 1,
    schema: z.object({
      roles: z
        .array(
          z.object({
            roleId: z.string(),
            permissions: z.string(),
            tiers: z.array(z.enum(['mod', 'admin'])).exactOptional(),
          }),
        )
        .default([]),
    }),
  },
  /** Members who have joined and not yet passed the screening. */
  waiting: {
    scope: 'guild',
    version: 1,
    schema: z.object({ members: z.array(z.object({ userId: z.string() })).default([]) }),
    personal: { each: 'members', by: 'userId' },
  },
} as const;

export const inject = {
  access: Access,
  audit: AuditLog,
  catalog: SettingsCatalog,
  clock: Clock,
  languages: Languages,
  random: Random,
  tierRoles: TierRoles,
};

export type RolesContext = PluginContext<typeof settings, typeof collections, typeof inject>;
