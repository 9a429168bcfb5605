import {
  Access,
  AuditLog,
  Clock,
  Languages,
  type PluginContext,
  Random,
  SettingsCatalog,
  TierRoles,
  t,
  UserError,
  z,
} from '@cinnabar/sdk';

/** Discord's limits: 25 options of a select menu, five rows of five buttons. */
export const MOST_ROLES = 25;
export const PANEL_STYLES = ['buttons', 'menu'] as const;
export type PanelStyle = (typeof PANEL_STYLES)[number];

/** A menu of roles that members choose for themselves, and how many they may have at once. A role is in at most one menu. */
const menuSchema = z.object({
  /** Part of the custom ids of the panel's buttons, so that the menu can be renamed. */
  id: z.string(),
  name: z.string(),
  /** Minimum number of roles that a member who has chosen any keeps. */
  min: z.int().min(0).max(MOST_ROLES),
  /** Maximum number; 0: no limit. With 1, the next choice replaces the previous one. */
  max: z.int().min(0).max(MOST_ROLES),
  roles: z
    .array(z.object({ roleId: z.string(), emoji: z.string().exactOptional(), description: z.string().exactOptional() }))
    .max(MOST_ROLES),
  /** The posted message. */
  panel: z
    .object({
      channelId: z.string(),
      messageId: z.string(),
      style: z.enum(PANEL_STYLES),
      text: z.string(),
      /** A digest of the message's content when it was last written, for detecting changes. */
      shown: z.string(),
    })
    .exactOptional(),
});
export type Menu = z.output<typeof menuSchema>;

/** Roles that a member gains and loses. */
export interface RoleChange {
  readonly give: readonly string[];
  readonly take: readonly string[];
}

/** The change when a member takes one role of a menu. @throws UserError when they already have the maximum */
export function pick(menu: Menu, held: ReadonlySet<string>, roleId: string): RoleChange {
  if (held.has(roleId)) return { give: [], take: [] };
  const others = heldOf(menu, held);
  if (menu.max === 1) return { give: [roleId], take: others };
  if (menu.max > 0 && others.length >= menu.max) {
    throw new UserError(
      t('You can have at most {max} of these roles at once: give one back first.', { max: menu.max }),
    );
  }
  return { give: [roleId], take: [] };
}

/** The change when a member returns one role. @throws UserError when they would fall below the minimum */
export function putBack(menu: Menu, held: ReadonlySet<string>, roleId: string): RoleChange {
  if (!held.has(roleId)) return { give: [], take: [] };
  if (heldOf(menu, held).length <= menu.min) {
    throw new UserError(
      menu.max === 1
        ? t('You keep one of these roles: choose another one to change it.')
        : t('You keep at least {min} of these roles: choose another one first.', { min: menu.min }),
    );
  }
  return { give: [], take: [roleId] };
}

/** The change for a complete choice: afterwards the member has exactly these roles of the menu. @throws UserError */
export function choose(menu: Menu, held: ReadonlySet<string>, chosen: readonly string[]): RoleChange {
  const wanted = menu.roles.map(({ roleId }) => roleId).filter((roleId) => chosen.includes(roleId));
  if (menu.max > 0 && wanted.length > menu.max)
    throw new UserError(t('You can have at most {max} of these roles at once.', { max: menu.max }));
  if (wanted.length < menu.min) throw new UserError(t('Choose at least {min} of these roles.', { min: menu.min }));
  return {
    give: wanted.filter((roleId) => !held.has(roleId)),
    take: heldOf(menu, held).filter((roleId) => !wanted.includes(roleId)),
  };
}

function heldOf(menu: Menu, held: ReadonlySet<string>): readonly string[] {
  return menu.roles.map(({ roleId }) => roleId).filter((roleId) => held.has(roleId));
}

/** Describes how many roles of a menu a member may have: `any number`, `at most 2`, `exactly one`, `1 to 3`. */
export function boundsText({ min, max }: Pick<Menu, 'min' | 'max'>): string {
  if (max === 1) return min === 1 ? t('exactly one') : t('one at most');
  if (max === 0) return min === 0 ? t('any number') : t('at least {min}', { min });
  return min === 0 ? t('at most {max}', { max }) : t('{min} to {max}', { min, max });
}

export const ID = 'roles';

/** Limits besides Discord's, which determine the number of roles in a menu; far above what a server needs. */
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
  /** The id of a custom emoji; for other emoji, the emoji itself. */
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
  /** Dangerous roles that the guild's owner allowed the bot to give, with their permissions and tiers at that time. */
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
  /** Members who have joined and have not passed the screening yet. */
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
