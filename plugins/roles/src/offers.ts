import { type Actor, type CommandContext, createAskFirst, nameText, t, UserError } from '@cinnabar/sdk';
import type { Guild, Role } from 'discord.js';
import type { Menu, RolesContext } from './context.js';
import { type Danger, type Grants, namesOf } from './grants.js';
import type { MenuStore, NewBounds } from './menu-store.js';
import type { Panels } from './panels.js';
import type { ReactionRoles } from './reaction-roles.js';

type JoinKind = 'members' | 'bots';

export type Offers = ReturnType<typeof createOffers>;

interface OfferDependencies {
  readonly grants: Grants;
  readonly store: MenuStore;
  readonly panels: Panels;
  readonly reactionRoles: ReactionRoles;
}

/**
 * The acts with which an admin lets the bot give a role, for commands and tools alike. The role must be below the admin and the bot, and its dangers need the
 * confirmation of the guild's owner. Each act resolves with a sentence.
 */
export function createOffers(context: RolesContext, { grants, store, panels, reactionRoles }: OfferDependencies) {
  const { settings, component, services } = context;
  const askFirst = createAskFirst({ component, ...services, name: 'dangerous', access: { tier: 'guildOwner' } });

  const require = async (role: Role, actor: Actor): Promise<void> => {
    const dangers = await grants.checkOffer(role, actor);
    if (dangers.length > 0) throw new UserError(needsOwner(role, dangers));
  };

  return {
    /** Carries out a command; for a dangerous role, asks the guild's owner first. */
    async byCommand(ctx: CommandContext, role: Role, act: () => Promise<string>): Promise<unknown> {
      const dangers = await grants.checkOffer(role, ctx.actor);
      if (dangers.length === 0) return ctx.reply(await act());
      if (role.guild.ownerId !== ctx.actor.userId) throw new UserError(needsOwner(role, dangers));
      const values = { name: nameText(role.name), permissions: namesOf(dangers) };
      return askFirst(ctx, {
        content: t(
          'The role {name} has {permissions}: everyone who gets it from me can use that. Give it away all the same?',
          values,
        ),
        yes: t('Give it away'),
        async run() {
          const now = await grants.checkOffer(role, ctx.actor);
          if (now.some((permission) => !dangers.includes(permission)))
            throw new UserError(
              t('The role has more permissions now than when I asked. Please give the command again.'),
            );
          await grants.confirm(role);
          services.audit.record({ actor: ctx.actor, act: `roles confirm ${role.id} (agreed)`, outcome: 'done' });
          return act();
        },
      });
    },

    /** For tools, which cannot ask the owner. @throws UserError for a dangerous role */
    require,

    async addJoinRole(role: Role, kind: JoinKind): Promise<string> {
      const key = keyOf(kind);
      await settings.guild(role.guild).update((draft) => {
        if (!draft[key].includes(role.id)) draft[key] = [...draft[key], role.id];
      });
      const { afterScreening } = await settings.guild(role.guild).get();
      const name = nameText(role.name);
      const done =
        kind === 'bots'
          ? t('Bots that are added here get the role {name} from now on.', { name })
          : afterScreening && role.guild.features.includes('MEMBER_VERIFICATION_GATE_ENABLED')
            ? t('New members get the role {name} from now on, once they have accepted the rules of this server.', {
                name,
              })
            : t('New members get the role {name} from now on.', { name });
      return [done, ...missingIntent(role.guild)].join('\n');
    },

    async removeJoinRole(role: Role, kind: JoinKind): Promise<string> {
      const key = keyOf(kind);
      const { [key]: before } = await settings.guild(role.guild).get();
      const name = nameText(role.name);
      if (!before.includes(role.id))
        throw new UserError(t('The role {name} is not given to those who join.', { name }));
      await settings.guild(role.guild).update((draft) => {
        draft[key] = draft[key].filter((id) => id !== role.id);
      });
      return kind === 'bots'
        ? t('Bots no longer get the role {name} when they are added.', { name })
        : t('New members no longer get the role {name}.', { name });
    },

    async addToMenu(
      role: Role,
      name: string,
      shown: { readonly emoji?: string | undefined; readonly description?: string | undefined },
    ): Promise<string> {
      const menu = await store.addRole(role.guild, name, role, shown);
      await panels.refresh(role.guild, menu.id);
      return t('{role} is in the menu {menu} now.', { role: nameText(role.name), menu: nameText(menu.name) });
    },

    async removeFromMenu(guild: Guild, roleId: string, name: string): Promise<string> {
      const menu = await store.removeRole(guild, name, roleId);
      await panels.refresh(guild, menu.id);
      return t('That role is in the menu {menu} no more. Members who have it keep it.', { menu: nameText(menu.name) });
    },

    async limitMenu(guild: Guild, name: string, bounds: NewBounds): Promise<Menu> {
      const menu = await store.limit(guild, name, bounds);
      await panels.refresh(guild, menu.id);
      return menu;
    },

    async addReaction(role: Role, link: string, emoji: string, actor: Actor): Promise<string> {
      const url = await reactionRoles.add(role.guild, link, emoji, role, actor);
      return t('Who reacts with {emoji} to {link} gets the role {name}.', {
        emoji,
        link: url,
        name: nameText(role.name),
      });
    },

    /** The roles that the bot gives, with the obstacles to each. */
    async overview(guild: Guild): Promise<string> {
      const { joinRoles, botRoles } = await settings.guild(guild).get();
      const show = async (ids: readonly string[]) => {
        if (ids.length === 0) return t('none');
        const shown = await Promise.all(
          ids.map(async (id) => {
            const obstacle = await grants.obstacleTo(guild, id, 'give');
            return obstacle === undefined ? `<@&${id}>` : `<@&${id}> ⚠️ ${obstacle}`;
          }),
        );
        return shown.join(', ');
      };
      return [
        t('New members get: {roles}', { roles: await show(joinRoles) }),
        t('New bots get: {roles}', { roles: await show(botRoles) }),
        ...(joinRoles.length + botRoles.length > 0 ? missingIntent(guild) : []),
      ].join('\n');
    },
  };
}

/** A warning if the bot receives no joins because it lacks the members intent; otherwise empty. */
function missingIntent({ client }: Guild): readonly string[] {
  if (client.options.intents.has('GuildMembers')) return [];
  return [
    `⚠️ ${t('I do not hear of new members: the owner of the bot has to allow me the intent Server Members, in the Developer Portal and in my configuration (`intents`).')}`,
  ];
}

const keyOf = (kind: JoinKind) => (kind === 'bots' ? 'botRoles' : 'joinRoles');

function needsOwner(role: Role, dangers: readonly Danger[]): string {
  return t(
    'The role {name} has {permissions}: only the owner of this server can have me give it away, and confirms that after the command.',
    {
      name: nameText(role.name),
      permissions: namesOf(dangers),
    },
  );
}
