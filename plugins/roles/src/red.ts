import { redImporter, z } from '@cinnabar/sdk';
import type { collections, settings } from './context.js';
import { MOST_ROLES } from './menus.js';

/** The menu that Red's self roles become. */
const MENU = 'selfroles';

const data = z.strictObject({
  // The channel for announcements is taken over by the plugin `admin`.
  guild: z
    .strictObject({ selfroles: z.array(z.string()).default([]), announce_channel: z.unknown().optional() })
    .prefault({}),
});

/** The self roles of Red's Admin cog, as a menu of this plugin. */
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
