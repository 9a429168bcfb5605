import { type HasId, nameText, plainText, redImporter, t, UserError, z } from '@cinnabar/sdk';
import type { Guild, Role } from 'discord.js';
import { type collections, LIMITS, type Menu, MOST_ROLES, type RolesContext, type settings } from './context.js';

const LONGEST_NAME = 50;
const LONGEST_DESCRIPTION = 100;

/** Missing keys stay unchanged. */
export interface NewBounds {
  readonly min?: number | undefined;
  readonly max?: number | undefined;
}

export type MenuStore = ReturnType<typeof createMenuStore>;

/** The menus of the guilds. */
export function createMenuStore({ collections, services }: RolesContext) {
  const list = async (guild: HasId): Promise<readonly Menu[]> => (await collections.menus.of(guild).get()).menus;

  /** @returns the menu after the change. @throws UserError without a menu of this name, and the errors of `change`; nothing is saved then */
  const edit = async (
    guild: Guild,
    name: string,
    change: (menu: Menu, all: readonly Menu[]) => void,
  ): Promise<Menu> => {
    const { menus } = await collections.menus.of(guild).update((draft) => {
      change(called(draft.menus, name), draft.menus);
    });
    return called(menus, name);
  };

  return {
    list,
    edit,

    /** @throws UserError */
    find: async (guild: Guild, name: string): Promise<Menu> => called(await list(guild), name),

    /** The menu that a role is in. */
    async of(guild: Guild, roleId: string): Promise<Menu | undefined> {
      return (await list(guild)).find(({ roles }) => roles.some((one) => one.roleId === roleId));
    },

    async create(guild: Guild, name: string, bounds: Pick<Menu, 'min' | 'max'>): Promise<Menu> {
      const trimmed = name.trim();
      if (trimmed === '' || trimmed.length > LONGEST_NAME)
        throw new UserError(t('The name of a menu has 1 to {most} characters.', { most: LONGEST_NAME }));
      checkBounds(bounds);
      const { menus } = await collections.menus.of(guild).update((draft) => {
        if (draft.menus.some((menu) => isCalled(menu, trimmed)))
          throw new UserError(t('There is a menu called {name} already.', { name: nameText(trimmed) }));
        if (draft.menus.length >= LIMITS.menus)
          throw new UserError(t('A server has at most {most} menus.', { most: LIMITS.menus }));
        draft.menus.push({ id: services.random.id(), name: trimmed, ...bounds, roles: [] });
      });
      return called(menus, trimmed);
    },

    limit: (guild: Guild, name: string, bounds: NewBounds): Promise<Menu> =>
      edit(guild, name, (menu) => {
        Object.assign(menu, { min: bounds.min ?? menu.min, max: bounds.max ?? menu.max });
        checkBounds(menu);
      }),

    /** Adds a role, or changes its emoji and description. */
    addRole: (
      guild: Guild,
      name: string,
      role: Role,
      { emoji, description }: { readonly emoji?: string | undefined; readonly description?: string | undefined },
    ): Promise<Menu> =>
      edit(guild, name, (menu, all) => {
        const elsewhere = all.find((other) => other !== menu && other.roles.some(({ roleId }) => roleId === role.id));
        if (elsewhere !== undefined)
          throw new UserError(t('That role is in the menu {name} already.', { name: nameText(elsewhere.name) }));
        checkDescription(description);
        const present = menu.roles.find(({ roleId }) => roleId === role.id);
        if (present === undefined && menu.roles.length >= MOST_ROLES)
          throw new UserError(t('A menu has at most {most} roles.', { most: MOST_ROLES }));
        const entry = present ?? { roleId: role.id };
        if (emoji !== undefined) entry.emoji = emojiIn(guild, emoji);
        if (description !== undefined) entry.description = description;
        if (present === undefined) menu.roles.push(entry);
      }),

    removeRole: (guild: Guild, name: string, roleId: string): Promise<Menu> =>
      edit(guild, name, (menu) => {
        const left = menu.roles.filter((one) => one.roleId !== roleId);
        if (left.length === menu.roles.length)
          throw new UserError(t('That role is not in the menu {name}.', { name: nameText(menu.name) }));
        menu.roles = left;
      }),

    /** @returns the menu before the removal */
    async delete(guild: Guild, name: string): Promise<Menu> {
      const menu = called(await list(guild), name);
      await collections.menus.of(guild).update((draft) => {
        draft.menus = draft.menus.filter(({ id }) => id !== menu.id);
      });
      return menu;
    },
  };
}

const isCalled = (menu: Menu, name: string): boolean => menu.name.toLowerCase() === name.trim().toLowerCase();

function called(menus: readonly Menu[], name: string): Menu {
  const found = menus.find((menu) => isCalled(menu, name));
  if (found !== undefined) return found;
  throw new UserError(
    menus.length === 0
      ? t('There are no menus of roles here yet.')
      : t('There is no menu called {name}; there are {menus}.', {
          name: nameText(name),
          menus: menus.map((menu) => plainText(menu.name)).join(', '),
        }),
  );
}

function checkBounds({ min, max }: Pick<Menu, 'min' | 'max'>): void {
  if (max > 0 && min > max) throw new UserError(t('The least number of roles cannot be more than the most.'));
}

function checkDescription(description = ''): void {
  if (description.length > LONGEST_DESCRIPTION)
    throw new UserError(t('A description has at most {most} characters.', { most: LONGEST_DESCRIPTION }));
}

const CUSTOM = /^<(a?):(\w{2,32}):(\d{15,21})>$/;

/** An emoji in the form that messages use. @throws UserError for other texts, and for a custom emoji that the bot cannot use */
export function emojiIn(guild: Guild, text: string): string {
  const given = text.trim();
  const id = CUSTOM.exec(given)?.[3];
  if (id !== undefined) {
    if (guild.client.emojis.cache.has(id)) return given;
    throw new UserError(t('I can use only emoji of servers that I am in.'));
  }
  const named = guild.emojis.cache.find(({ name }) => name !== null && `:${name}:` === given);
  if (named !== undefined) return named.toString();
  const [first, second] = new Intl.Segmenter('en').segment(given);
  if (first !== undefined && second === undefined && EMOJI.test(given)) return given;
  throw new UserError(t('{text} is not an emoji.', { text: nameText(given) }));
}

const EMOJI =
  /^(?:\p{Emoji_Presentation}|\p{Emoji}\uFE0F|\p{Extended_Pictographic}|\p{Regional_Indicator}|[0-9#*]\uFE0F?\u20E3)/u;

/** The key of an emoji for reactions: the id of a custom emoji, otherwise the emoji in one normalised spelling. */
export function emojiKey(emoji: string): string {
  return CUSTOM.exec(emoji)?.[3] ?? emoji.replaceAll('\uFE0F', '');
}

/** The emoji in the form that message components use. */
export function componentEmoji(emoji: string): {
  readonly id?: string;
  readonly name: string;
  readonly animated?: boolean;
} {
  const [, animated, name, id] = CUSTOM.exec(emoji) ?? [];
  return id === undefined || name === undefined ? { name: emoji } : { id, name, animated: animated === 'a' };
}

/** The name of the menu into which Red's self roles are imported. */
const MENU = 'selfroles';

const data = z.strictObject({
  // The channel for announcements, which the plugin `admin` imports.
  guild: z
    .strictObject({ selfroles: z.array(z.string()).default([]), announce_channel: z.unknown().optional() })
    .prefault({}),
});

/** Imports the self roles of Red's Admin cog as a menu of this plugin. */
export const selfRolesOfRed = redImporter<typeof data, typeof settings, typeof collections>({
  from: 'Admin',
  data,
  async run({ guild: { selfroles } }, { guildId, collections: { menus }, clock, taken, present, leftOut }) {
    const before = (await menus.of(guildId).get()).menus;
    const known = new Set(before.flatMap(({ roles }) => roles.map(({ roleId }) => roleId)));
    const room = MOST_ROLES - (before.find(({ name }) => name === MENU)?.roles.length ?? 0);
    const wanted = selfroles.filter((id) => !known.has(id));
    const added = wanted.slice(0, room);
    if (added.length > 0)
      await menus.of(guildId).update((draft) => {
        const menu = draft.menus.find(({ name }) => name === MENU);
        const roles = added.map((roleId) => ({ roleId }));
        if (menu === undefined)
          draft.menus.push({ id: `red-${clock.now().toString(36)}`, name: MENU, min: 0, max: 0, roles });
        else menu.roles.push(...roles);
      });
    for (const id of added) taken(`self role ${id}, in the menu ${MENU}`);
    for (const id of selfroles) if (known.has(id)) present(`self role ${id}`);
    for (const id of wanted.slice(room)) leftOut(`self role ${id}`, `a menu has at most ${MOST_ROLES} roles`);
  },
});
