import { createRateLimiter, nameText, t, UserError } from '@cinnabar/sdk';
import type { Guild, Role } from 'discord.js';
import { boundsText, choose, type Menu, pick, putBack, type RoleChange, type RolesContext } from './context.js';
import { type Grants, Obstacle } from './grants.js';
import type { MenuStore } from './menu-store.js';

const REASON = 'chosen by the member';
/**
 * Limit of a member's changes. Each is two requests, and Discord limits how many role changes a bot makes in a server, so one member must not delay the others.
 */
const MOST_CHANGES = 20;
const WINDOW_MS = 60_000;

/** Thrown when a member changes their roles too often. */
export class TooOften extends UserError {}

export type SelfRoles = ReturnType<typeof createSelfRoles>;

/** Roles that members choose for themselves, by panel, reaction, command or tool. Each act resolves with a sentence for the member. */
export function createSelfRoles({ services }: RolesContext, grants: Grants, store: MenuStore) {
  const changes = createRateLimiter(services.clock, WINDOW_MS);

  const change = async (
    guild: Guild,
    userId: string,
    plan: (held: ReadonlySet<string>) => RoleChange,
  ): Promise<RoleChange> => {
    if (changes.take(`${guild.id}:${userId}`, MOST_CHANGES) !== undefined)
      throw new TooOften(t('You change your roles too often. Please wait a minute.'));
    try {
      return await grants.change(guild, userId, plan, REASON);
    } catch (error) {
      if (error instanceof Obstacle) await grants.report(guild, error.message);
      throw error;
    }
  };

  const menuOf = async (guild: Guild, role: Role): Promise<Menu> => {
    const menu = await store.of(guild, role.id);
    if (menu !== undefined) return menu;
    throw new UserError(t('The role {name} is not one that members choose themselves.', { name: nameText(role.name) }));
  };

  const requireOffered = ({ roles }: Menu, roleId: string) => {
    if (!roles.some((one) => one.roleId === roleId)) throw new UserError(t('This role is not offered any more.'));
  };

  return {
    async toggle(guild: Guild, userId: string, menu: Menu, roleId: string): Promise<string> {
      requireOffered(menu, roleId);
      const changed = await change(guild, userId, (held) =>
        held.has(roleId) ? putBack(menu, held, roleId) : pick(menu, held, roleId),
      );
      return textOf(changed);
    },

    choose: async (guild: Guild, userId: string, menu: Menu, chosen: readonly string[]): Promise<string> =>
      textOf(await change(guild, userId, (held) => choose(menu, held, chosen))),

    async get(guild: Guild, userId: string, role: Role): Promise<string> {
      const menu = await menuOf(guild, role);
      return textOf(await change(guild, userId, (held) => pick(menu, held, role.id)));
    },

    async drop(guild: Guild, userId: string, role: Role): Promise<string> {
      const menu = await menuOf(guild, role);
      return textOf(await change(guild, userId, (held) => putBack(menu, held, role.id)));
    },

    /** A reaction gives its role, and removing it takes the role. If the role is in a menu, the menu's rules apply. */
    async react(guild: Guild, userId: string, roleId: string, isAdded: boolean): Promise<RoleChange> {
      const menu = await store.of(guild, roleId);
      return change(guild, userId, (held) => {
        if (held.has(roleId) === isAdded) return { give: [], take: [] };
        if (menu !== undefined) return isAdded ? pick(menu, held, roleId) : putBack(menu, held, roleId);
        return isAdded ? { give: [roleId], take: [] } : { give: [], take: [roleId] };
      });
    },

    /** The roles that members can choose, one line per menu. */
    async list(guild: Guild): Promise<string> {
      const menus = (await store.list(guild)).filter(({ roles }) => roles.length > 0);
      if (menus.length === 0) return t('There are no roles here that members choose themselves.');
      return menus
        .map((menu) => {
          const roles = menu.roles.map(({ roleId }) => `<@&${roleId}>`).join(', ');
          return `• ${nameText(menu.name)} (${boundsText(menu)}): ${roles}`;
        })
        .join('\n');
    },
  };
}

function textOf({ give, take }: RoleChange): string {
  const mentions = (ids: readonly string[]) => ids.map((id) => `<@&${id}>`).join(', ');
  if (give.length === 0 && take.length === 0) return t('Nothing changed.');
  if (take.length === 0) return t('You now have {roles}.', { roles: mentions(give) });
  if (give.length === 0) return t('You no longer have {roles}.', { roles: mentions(take) });
  return t('You now have {given}, and no longer {taken}.', { given: mentions(give), taken: mentions(take) });
}
