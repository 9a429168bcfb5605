import { definePlugin, t } from '@cinnabar/sdk';
import type { Guild } from 'discord.js';
import { type RoleServices, registerCommands } from './commands.js';
import { collections, ID, inject, type RolesContext, settings } from './context.js';
import { createGrants, namesOf, watchJoins } from './grants.js';
import { createMenuStore, selfRolesOfRed } from './menu-store.js';
import { createOffers } from './offers.js';
import { createPanels } from './panels.js';
import { createReactionRoles } from './reaction-roles.js';
import { createSelfRoles } from './self-roles.js';
import { registerTools } from './tools.js';

export default definePlugin({
  manifest: {
    id: ID,
    version: '0.1.0',
    description: 'Roles for new members, roles that members choose by buttons and menus, and reaction roles',
    host: '^0.1.0',
    intents: ['Guilds', 'GuildMessages', 'GuildMessageReactions'],
    optionalIntents: ['GuildMembers'],
    permissions: ['ManageRoles', 'SendMessages', 'AddReactions', 'ReadMessageHistory'],
  },
  settings,
  collections,
  inject,
  importers: [selfRolesOfRed],
  setup(context) {
    const grants = createGrants(context);
    const store = createMenuStore(context);
    const selfRoles = createSelfRoles(context, grants, store);
    const panels = createPanels(context, store, selfRoles);
    const reactionRoles = createReactionRoles(context, selfRoles);
    const offers = createOffers(context, { grants, store, panels, reactionRoles });
    const parts = { grants, store, selfRoles, panels, reactionRoles, offers };
    watchJoins(context, grants);
    registerCommands(context, parts);
    registerTools(context, parts);
    keepTidy(context, parts);
    adviseSettings(context, parts);
  },
});

/** Removes deleted roles, messages and channels from the data, and updates panels when roles are renamed. */
function keepTidy(
  { on, ready, client, settings, collections }: RolesContext,
  { store, panels, reactionRoles }: RoleServices,
): void {
  const refresh = async (guild: Guild, isMeant: (roleIds: readonly string[]) => boolean) => {
    for (const menu of await store.list(guild)) {
      if (isMeant(menu.roles.map(({ roleId }) => roleId))) await panels.refresh(guild, menu.id);
    }
  };

  /** Removes roles from all data of the plugin. */
  const forgetRoles = async (guild: Guild, isGone: (roleId: string) => boolean) => {
    const { joinRoles, botRoles } = await settings.guild(guild).get();
    if ([...joinRoles, ...botRoles].some(isGone)) {
      await settings.guild(guild).update((draft) => {
        draft.joinRoles = draft.joinRoles.filter((id) => !isGone(id));
        draft.botRoles = draft.botRoles.filter((id) => !isGone(id));
      });
    }
    await reactionRoles.tidy(guild, ({ roleId }) => isGone(roleId));
    if ((await collections.confirmed.of(guild).get()).roles.some(({ roleId }) => isGone(roleId))) {
      await collections.confirmed.of(guild).update((draft) => {
        draft.roles = draft.roles.filter(({ roleId }) => !isGone(roleId));
      });
    }
    const touched = (await store.list(guild)).filter(({ roles }) => roles.some(({ roleId }) => isGone(roleId)));
    for (const { name, id } of touched) {
      await store.edit(guild, name, (menu) => {
        menu.roles = menu.roles.filter(({ roleId }) => !isGone(roleId));
        menu.min = Math.min(menu.min, menu.roles.length);
      });
      await panels.refresh(guild, id);
    }
  };

  const forgetMessages = async (guild: Guild | null, ids: readonly string[]) => {
    if (guild === null) return;
    await panels.forget(guild, ids);
    await reactionRoles.tidy(guild, ({ messageId }) => ids.includes(messageId));
  };

  const forgetChannel = async (guild: Guild, gone: string) => {
    const posted = (await store.list(guild)).flatMap(({ panel }) =>
      panel?.channelId === gone ? [panel.messageId] : [],
    );
    if (posted.length > 0) await panels.forget(guild, posted);
    await reactionRoles.tidy(guild, ({ channelId }) => channelId === gone);
  };

  on('roleDelete', ({ guild, id }) => forgetRoles(guild, (roleId) => roleId === id));
  on('roleUpdate', async (before, { guild, id, name }) => {
    if (before.name !== name) await refresh(guild, (roleIds) => roleIds.includes(id));
  });
  on('messageDelete', ({ guild, id }) => forgetMessages(guild, [id]));
  on('messageDeleteBulk', (messages, { guild }) => forgetMessages(guild, [...messages.keys()]));
  on('channelDelete', async (channel) => {
    if (!channel.isDMBased()) await forgetChannel(channel.guild, channel.id);
  });
  on('threadDelete', ({ guild, id }) => forgetChannel(guild, id));
  ready(async () => {
    for (const guildId of await guildsInUse({ settings, collections })) {
      const guild = client.guilds.cache.get(guildId);
      if (guild?.available !== true) continue;
      await forgetRoles(guild, (roleId) => !guild.roles.cache.has(roleId));
      await refresh(guild, () => true);
      await reactionRoles.tidyMessages(guild);
    }
  });
}

/** The guilds with stored data: of thousands of guilds, most have nothing to check. */
async function guildsInUse({
  settings,
  collections,
}: Pick<RolesContext, 'settings' | 'collections'>): Promise<ReadonlySet<string>> {
  const ids = new Set(await settings.guild.changedIn());
  for (const collection of [collections.menus, collections.reactions, collections.confirmed]) {
    for await (const [guildId] of collection.entries()) ids.add(guildId);
  }
  return ids;
}

/** Applies the rules of the commands to `!set` and configuration files: no role above the admin's own, and no dangerous one. */
function adviseSettings({ services, client, defer }: RolesContext, { grants }: RoleServices): void {
  const withdraw = services.catalog.advise(ID, {
    async refusalOf(key, value, actor) {
      const guild = actor.guildId === null ? undefined : client.guilds.cache.get(actor.guildId);
      if ((key !== 'joinRoles' && key !== 'botRoles') || guild === undefined || !Array.isArray(value)) return undefined;
      if (!(await grants.mayOffer(actor, 'autorole'))) return t('you need the permission Manage Roles for that');
      for (const id of value) {
        const role = typeof id === 'string' ? guild.roles.cache.get(id) : undefined;
        if (role === undefined) return t('one of these roles is not one of this server');
        const dangers = await grants.checkOffer(role, actor);
        if (dangers.length > 0)
          return t(
            'the role has {permissions}: the owner of this server adds it with `autorole add`, and confirms it',
            { permissions: namesOf(dangers) },
          );
      }
      return undefined;
    },
    inForce: async () => undefined,
  });
  defer(withdraw);
}
