import { nameText, option, plainText, requireGuild, subcommand, t, UserError, z } from '@cinnabar/sdk';
import { ChannelType } from 'discord.js';
import { boundsText, MOST_ROLES, PANEL_STYLES, type RolesContext } from './context.js';
import type { Grants } from './grants.js';
import type { MenuStore } from './menu-store.js';
import type { Offers } from './offers.js';
import { LONGEST_TEXT, type Panels } from './panels.js';
import type { ReactionRoles } from './reaction-roles.js';
import type { SelfRoles } from './self-roles.js';

/** The admin needs Manage Roles, too, and could therefore give the role without the bot. */
const OFFERING = { tier: 'admin', member: ['ManageRoles'], where: 'guild' } as const;
const WRITABLE = [ChannelType.GuildText, ChannelType.GuildAnnouncement] as const;

export interface RoleServices {
  readonly grants: Grants;
  readonly store: MenuStore;
  readonly selfRoles: SelfRoles;
  readonly panels: Panels;
  readonly reactionRoles: ReactionRoles;
  readonly offers: Offers;
}

export function registerCommands(context: RolesContext, parts: RoleServices): void {
  registerMemberCommands(context, parts);
  registerMenuCommands(context, parts);
  registerJoinCommands(context, parts);
  registerReactionCommands(context, parts);
}

const role = option.role().describe('The role');

function registerMemberCommands({ group }: RolesContext, { selfRoles, grants }: RoleServices): void {
  const moderating = { tier: 'mod', member: ['ManageRoles'], where: 'guild' } as const;
  const given = { member: option.member().describe('The member'), role };
  group({
    name: 'role',
    description: 'Choose your own roles',
    aliases: ['selfrole'],
    access: { where: 'guild' },
    commands: [
      subcommand({
        name: 'list',
        reads: true,
        description: 'List the roles that members choose themselves',
        ephemeral: true,
        run: async (ctx) => ctx.reply(await selfRoles.list(requireGuild(ctx))),
      }),
      subcommand({
        name: 'get',
        description: 'Take one of the roles that members choose themselves',
        aliases: ['add'],
        ephemeral: true,
        options: { role },
        run: async (ctx, options) => ctx.reply(await selfRoles.get(requireGuild(ctx), ctx.actor.userId, options.role)),
      }),
      subcommand({
        name: 'drop',
        description: 'Give one of these roles back',
        aliases: ['remove'],
        ephemeral: true,
        options: { role },
        run: async (ctx, options) => ctx.reply(await selfRoles.drop(requireGuild(ctx), ctx.actor.userId, options.role)),
      }),
      subcommand({
        name: 'give',
        description: 'Give a role to a member',
        access: moderating,
        audited: true,
        options: given,
        async run(ctx, { member, role: wanted }) {
          await grants.changeFor(ctx.actor, member, wanted, 'give');
          await ctx.reply(t('{member} has the role {role} now.', { member: `${member}`, role: nameText(wanted.name) }));
        },
      }),
      subcommand({
        name: 'take',
        description: 'Take a role from a member',
        access: moderating,
        audited: true,
        options: given,
        async run(ctx, { member, role: wanted }) {
          await grants.changeFor(ctx.actor, member, wanted, 'take');
          await ctx.reply(
            t('{member} no longer has the role {role}.', { member: `${member}`, role: nameText(wanted.name) }),
          );
        },
      }),
    ],
  });
}

function registerMenuCommands({ group }: RolesContext, { store, panels, offers }: RoleServices): void {
  const menu = option
    .suggested(async (typed, { guildId }) => {
      const menus = guildId === null ? [] : await store.list(guildId);
      const fitting = menus.filter(({ name }) => name.toLowerCase().includes(typed.toLowerCase()));
      return fitting.map(({ name }) => ({ name, value: name }));
    })
    .describe('Name of the menu');
  const min = z.int().min(0).max(MOST_ROLES).describe('A member who has chosen keeps at least so many');
  const max = z.int().min(0).max(MOST_ROLES).describe('A member has at most so many; 0: any number');
  group({
    name: 'rolemenu',
    description: 'Make menus of roles that members choose themselves',
    help: 'A menu holds up to 25 roles. With `max:1` its roles exclude each other. `rolemenu post` puts it into a channel, with buttons or as a select menu; what changes later is changed there, too.',
    access: OFFERING,
    commands: [
      subcommand({
        name: 'create',
        description: 'Make a menu',
        options: { menu: z.string().describe('Its name'), max: max.default(0), min: min.default(0) },
        examples: ['rolemenu create Colours max:1', 'rolemenu create "Games you play"'],
        async run(ctx, { menu: name, ...bounds }) {
          const made = await store.create(requireGuild(ctx), name, bounds);
          const values = { name: nameText(made.name), bounds: boundsText(made), prefix: ctx.prefix };
          await ctx.reply(
            t('Made the menu {name} ({bounds}). Next: `{prefix}rolemenu add`, then `{prefix}rolemenu post`.', values),
          );
        },
      }),
      subcommand({
        name: 'add',
        description: 'Put a role into a menu, or change what is shown beside it',
        options: {
          menu,
          role,
          emoji: z.string().max(60).optional().describe('Shown on its button'),
          description: option.rest().optional().describe('What the role is for, at most 100 characters'),
        },
        examples: ['rolemenu add Colours @Red emoji:🔴', 'rolemenu add Games @Chess We play on Fridays'],
        run: (ctx, { menu: name, role: wanted, ...shown }) =>
          offers.byCommand(ctx, wanted, () => offers.addToMenu(wanted, name, shown)),
      }),
      subcommand({
        name: 'remove',
        description: 'Take a role out of a menu',
        options: { menu, role },
        run: async (ctx, { menu: name, role: { id } }) =>
          ctx.reply(await offers.removeFromMenu(requireGuild(ctx), id, name)),
      }),
      subcommand({
        name: 'limit',
        description: 'Change how many roles of a menu a member may have',
        options: { menu, max: max.optional(), min: min.optional() },
        async run(ctx, { menu: name, ...bounds }) {
          const changed = await offers.limitMenu(requireGuild(ctx), name, bounds);
          await ctx.reply(
            t('Of {name} members may have: {bounds}.', { name: nameText(changed.name), bounds: boundsText(changed) }),
          );
        },
      }),
      subcommand({
        name: 'post',
        description: 'Post a menu in a channel',
        help: 'A menu is in one place: the message before is deleted.',
        options: {
          menu,
          channel: option.channel(WRITABLE).optional().describe('By default this one'),
          style: z.enum(PANEL_STYLES).default('buttons').describe('Buttons, or a select menu'),
          text: option.rest().optional().describe('What stands above it; by default its name'),
        },
        examples: ['rolemenu post Colours #roles', 'rolemenu post Games style:menu What do you play?'],
        async run(ctx, { menu: name, channel, style, text = '' }) {
          if (text.length > LONGEST_TEXT)
            throw new UserError(t('The text has at most {most} characters.', { most: LONGEST_TEXT }));
          const request = { channelId: channel?.id ?? ctx.channel.id, style, text };
          const url = await panels.post(requireGuild(ctx), name, request, ctx.actor);
          await ctx.reply(t('Posted: {link}', { link: url }));
        },
      }),
      subcommand({
        name: 'delete',
        description: 'Delete a menu and its message',
        options: { menu },
        async run(ctx, { menu: name }) {
          const gone = await store.delete(requireGuild(ctx), name);
          if (gone.panel !== undefined) await panels.deleteMessage(gone.panel);
          await ctx.reply(t('Deleted the menu {name}. Members keep their roles.', { name: nameText(gone.name) }));
        },
      }),
      subcommand({
        name: 'list',
        reads: true,
        description: 'List the menus, with their roles and where they are posted',
        async run(ctx) {
          const guild = requireGuild(ctx);
          const menus = await store.list(guild);
          const lines = menus.map((one) => {
            const roles = one.roles
              .map(({ roleId, emoji }) => `${emoji === undefined ? '' : `${emoji} `}<@&${roleId}>`)
              .join(', ');
            const link =
              one.panel && `https://discord.com/channels/${guild.id}/${one.panel.channelId}/${one.panel.messageId}`;
            const values = {
              name: nameText(one.name),
              bounds: boundsText(one),
              roles: roles === '' ? t('no roles') : roles,
            };
            return link === undefined
              ? t('• {name} ({bounds}): {roles}', values)
              : t('• {name} ({bounds}): {roles}; posted at {link}', { ...values, link });
          });
          await ctx.reply(lines.length === 0 ? t('There are no menus of roles here yet.') : lines.join('\n'));
        },
      }),
    ],
  });
}

function registerJoinCommands({ group }: RolesContext, { offers }: RoleServices): void {
  const who = z.enum(['members', 'bots']).default('members').describe('New members, or bots that are added');
  group({
    name: 'autorole',
    description: 'Choose roles that new members get',
    access: OFFERING,
    commands: [
      subcommand({
        name: 'add',
        description: 'Give a role to everyone who joins',
        options: { role, for: who },
        examples: ['autorole add @Guest', 'autorole add @Bots bots'],
        run: (ctx, { role: wanted, for: kind }) =>
          offers.byCommand(ctx, wanted, () => offers.addJoinRole(wanted, kind)),
      }),
      subcommand({
        name: 'remove',
        description: 'Do not give that role any more',
        options: { role, for: who },
        run: async (ctx, { role: wanted, for: kind }) => ctx.reply(await offers.removeJoinRole(wanted, kind)),
      }),
      subcommand({
        name: 'list',
        reads: true,
        description: 'List the roles for those who join, and what is wrong with them',
        run: async (ctx) => ctx.reply(await offers.overview(requireGuild(ctx))),
      }),
    ],
  });
}

function registerReactionCommands({ group }: RolesContext, { offers, reactionRoles }: RoleServices): void {
  const message = z.string().describe('Link to the message');
  const emoji = z.string().max(60).describe('The emoji');
  group({
    name: 'reactionrole',
    description: 'Give roles to those who react to a message',
    access: OFFERING,
    commands: [
      subcommand({
        name: 'add',
        description: 'Give a role for a reaction; removing the reaction takes it',
        options: { message, emoji, role },
        run: (ctx, { role: wanted, message: link, emoji: text }) =>
          offers.byCommand(ctx, wanted, () => offers.addReaction(wanted, link, text, ctx.actor)),
      }),
      subcommand({
        name: 'remove',
        description: 'Give no role for a reaction any more',
        options: { message, emoji: emoji.optional() },
        async run(ctx, { message: link, emoji: text }) {
          const count = await reactionRoles.remove(requireGuild(ctx), link, text);
          await ctx.reply(
            t('{count, plural, one {Removed # reaction role.} other {Removed # reaction roles.}}', { count }),
          );
        },
      }),
      subcommand({
        name: 'list',
        reads: true,
        description: 'List the reaction roles',
        async run(ctx) {
          const { id } = requireGuild(ctx);
          const bindings = await reactionRoles.list(requireGuild(ctx));
          const lines = bindings.map(({ channelId, messageId, emoji: key, roleId }) => {
            const shown = /^\d+$/.test(key) ? `${ctx.guild?.client.emojis.cache.get(key) ?? plainText(key)}` : key;
            return `• ${shown} → <@&${roleId}>: https://discord.com/channels/${id}/${channelId}/${messageId}`;
          });
          await ctx.reply(lines.length === 0 ? t('There are no reaction roles here yet.') : lines.join('\n'));
        },
      }),
    ],
  });
}
