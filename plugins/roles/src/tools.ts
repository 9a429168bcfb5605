import { channelCalled, requireGuildOf, roleCalled, t, UserError, z } from '@cinnabar/sdk';
import type { RoleServices } from './commands.js';
import { boundsText, MOST_ROLES, PANEL_STYLES, type RolesContext } from './context.js';
import { LONGEST_TEXT } from './panels.js';

const OFFERING = { tier: 'admin', member: ['ManageRoles'], where: 'guild' } as const;
const name = z.string().min(1).max(100);
const roleField = name.describe('Role: name, mention or id');
const menuField = name.describe('Name of the menu');

/** The commands' acts as tools for models, by role names. Acts that need the owner's confirmation exist only as commands, which ask for it. */
export function registerTools(
  { tool, client }: RolesContext,
  { grants, offers, store, selfRoles, panels }: RoleServices,
): void {
  tool({
    name: 'set_join_role',
    description:
      'Give a role to everyone who joins the server from now on, or stop giving it. For new members, or for bots that are added.',
    input: z.object({
      role: roleField,
      for: z.enum(['members', 'bots']).default('members').describe('Who gets it'),
      remove: z.boolean().default(false).describe('Whether it is no longer given'),
    }),
    risk: 'write',
    access: OFFERING,
    examples: [
      'give new members the role {role}',
      'everyone who joins gets the role {role}',
      'new members should get {role}',
    ],
    async check({ role, remove }, { actor }) {
      const found = roleCalled(requireGuildOf(client, actor), role);
      if (!remove) await offers.require(found, actor);
    },
    async run({ role, for: kind, remove }, { actor }) {
      const found = roleCalled(requireGuildOf(client, actor), role);
      if (remove) return offers.removeJoinRole(found, kind);
      await offers.require(found, actor);
      return offers.addJoinRole(found, kind);
    },
    present: {
      sentence: ({ role, for: kind, remove }) => joinSentence(role, kind, remove),
      said: ['role', 'for', 'remove'],
      success: (_, sentence) => sentence,
    },
  });

  tool({
    name: 'offer_self_roles',
    description:
      'Put roles into a menu of roles that members choose themselves. A menu that does not exist yet is made. Post it with post_role_menu afterwards.',
    input: z.object({
      menu: menuField,
      roles: z.array(roleField).min(1).max(MOST_ROLES).describe('The roles'),
      max: z
        .int()
        .min(0)
        .max(MOST_ROLES)
        .optional()
        .describe('A member has at most so many of them; 1: they exclude each other; 0: any number'),
      min: z.int().min(0).max(MOST_ROLES).optional().describe('A member who has chosen keeps at least so many'),
    }),
    risk: 'write',
    access: OFFERING,
    examples: [
      'let members choose the roles {roles} in a menu called {menu}',
      'offer the roles {roles} as self roles in the menu {menu}',
    ],
    async check({ roles }, { actor }) {
      for (const role of roles) await offers.require(roleCalled(requireGuildOf(client, actor), role), actor);
    },
    async run({ menu, roles, min, max }, { actor }) {
      const guild = requireGuildOf(client, actor);
      const found = roles.map((role) => roleCalled(guild, role));
      for (const role of found) await offers.require(role, actor);
      const isNew = !(await store.list(guild)).some((one) => one.name.toLowerCase() === menu.trim().toLowerCase());
      if (isNew) await store.create(guild, menu, { min: min ?? 0, max: max ?? 0 });
      for (const role of found) await offers.addToMenu(role, menu, {});
      const bounds = await offers.limitMenu(guild, menu, { min, max });
      const posted =
        bounds.panel === undefined
          ? t('It is not posted yet.')
          : t('It is posted in {channel}.', { channel: `<#${bounds.panel.channelId}>` });
      return `${t('Members choose among {count, plural, one {# role} other {# roles}} in that menu ({bounds}).', { count: bounds.roles.length, bounds: boundsText(bounds) })} ${posted}`;
    },
    present: {
      sentence: ({ menu, roles }) =>
        t("I'll let members choose the roles {roles} in the menu {menu}", { roles: roles.join(', '), menu }),
      said: ['menu', 'roles'],
      success: (_, sentence) => sentence,
    },
  });

  tool({
    name: 'post_role_menu',
    description:
      'Post a menu of self roles in a channel, as buttons or as a select menu. Its message before is deleted.',
    input: z.object({
      menu: menuField,
      channel: name.optional().describe('Channel: name, mention or id; by default this one'),
      style: z.enum(PANEL_STYLES).default('buttons').describe('Buttons, or a select menu'),
      text: z.string().max(LONGEST_TEXT).default('').describe('What stands above it; by default its name'),
    }),
    risk: 'write',
    access: OFFERING,
    examples: ['post the role menu {menu} in {channel}'],
    async run({ menu, channel, ...request }, { actor }) {
      const guild = requireGuildOf(client, actor);
      const channelId = channel === undefined ? actor.channelId : channelCalled(guild, channel).id;
      return t('Posted: {link}', { link: await panels.post(guild, menu, { ...request, channelId }, actor) });
    },
    present: {
      sentence: ({ menu }) => t("I'll post the role menu {menu}", { menu }),
      said: ['menu'],
      success: (_, sentence) => sentence,
    },
  });

  tool({
    name: 'choose_own_roles',
    description:
      'Give the member who asks roles that members of this server choose themselves, or take them back. Never for another member.',
    input: z.object({
      get: z.array(roleField).max(MOST_ROLES).default([]).describe('Roles that they want'),
      drop: z.array(roleField).max(MOST_ROLES).default([]).describe('Roles that they give back'),
    }),
    risk: 'write',
    access: { where: 'guild' },
    examples: ['give me the role {get}', 'I want the role {get}', 'take the role {drop} from me'],
    async run({ get, drop }, { actor }) {
      const guild = requireGuildOf(client, actor);
      if (get.length + drop.length === 0) throw new UserError(t('Say which role.'));
      const said: string[] = [];
      for (const role of drop) said.push(await selfRoles.drop(guild, actor.userId, roleCalled(guild, role)));
      for (const role of get) said.push(await selfRoles.get(guild, actor.userId, roleCalled(guild, role)));
      return said.join('\n');
    },
    present: {
      sentence: ({ get, drop }) =>
        t("I'll change your roles: {roles}", {
          roles: [...get.map((one) => `+ ${one}`), ...drop.map((one) => `− ${one}`)].join(', '),
        }),
      said: ['get', 'drop'],
      success: (_, sentence) => sentence,
    },
  });

  tool({
    name: 'view_self_roles',
    description:
      'The roles that members of this server choose themselves and, for admins, the roles that new members get and what is wrong with them.',
    input: z.object({}),
    risk: 'read',
    access: { where: 'guild' },
    examples: ['which roles can I choose?', 'which roles do new members get?'],
    async run(_input, { actor }) {
      const guild = requireGuildOf(client, actor);
      const offered = await selfRoles.list(guild);
      return (await grants.mayOffer(actor, 'view_self_roles'))
        ? `${offered}\n${await offers.overview(guild)}`
        : offered;
    },
    present: { sentence: () => t("I'll show the roles that members choose"), success: (_, text) => text },
  });
}

function joinSentence(role: string, kind: 'members' | 'bots', remove: boolean): string {
  if (kind === 'bots')
    return remove
      ? t("I'll no longer give bots the role {role}", { role })
      : t("I'll give bots that are added the role {role}", { role });
  return remove
    ? t("I'll no longer give new members the role {role}", { role })
    : t("I'll give new members the role {role}", { role });
}
