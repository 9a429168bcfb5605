import { option, requireGuildId, subcommand, subgroup, type TierRoles, t } from '@cinnabar/sdk';
import type { AdminContext } from './context.js';

const NAMES = { mod: 'moderators', admin: 'admins' } as const;

/** `!roles …`: the roles whose members are moderators and admins for the bot. */
export function registerRoleCommands({ group, services: { tierRoles } }: AdminContext): void {
  group({
    name: 'roles',
    description: 'Choose the roles of moderators and admins',
    help: 'Members who may manage the server count as admins in any case, and those who may time out, kick or ban members or manage messages as moderators.',
    access: { tier: 'admin', where: 'guild' },
    commands: [
      subcommand({
        name: 'list',
        reads: true,
        description: 'List the roles of moderators and admins',
        async run(ctx) {
          const guildId = requireGuildId(ctx.actor);
          const [mods, admins] = await Promise.all([tierRoles.list(guildId, 'mod'), tierRoles.list(guildId, 'admin')]);
          await ctx.reply(
            [
              t('Admins: {roles}', { roles: mentions(admins) }),
              t('Moderators: {roles}', { roles: mentions(mods) }),
            ].join('\n'),
          );
        },
      }),
      tierGroup(tierRoles, 'mod'),
      tierGroup(tierRoles, 'admin'),
    ],
  });
}

function tierGroup(tierRoles: TierRoles, tier: 'mod' | 'admin') {
  const role = option.role().describe('The role');
  return subgroup({
    name: tier,
    description: `Roles whose members are ${NAMES[tier]}`,
    commands: [
      subcommand({
        name: 'add',
        description: `Make the members of a role ${NAMES[tier]}`,
        options: { role },
        async run(ctx, { role: { id } }) {
          const guildId = requireGuildId(ctx.actor);
          if (id === guildId)
            return ctx.reply(t('Everyone cannot be {tier, select, mod {moderators} other {admins}}.', { tier }));
          const isNew = await tierRoles.add(guildId, tier, id);
          const values = { role: `<@&${id}>`, tier };
          return ctx.reply(
            isNew
              ? t('Members of {role} are {tier, select, mod {moderators} other {admins}} for me now.', values)
              : t('Members of {role} are already {tier, select, mod {moderators} other {admins}} for me.', values),
          );
        },
      }),
      subcommand({
        name: 'remove',
        description: `Members of a role are no longer ${NAMES[tier]}`,
        options: { role },
        async run(ctx, { role: { id } }) {
          const was = await tierRoles.remove(requireGuildId(ctx.actor), tier, id);
          const values = { role: `<@&${id}>`, tier };
          return ctx.reply(
            was
              ? t(
                  'Members of {role} are no longer {tier, select, mod {moderators} other {admins}} by that role.',
                  values,
                )
              : t('{role} was no role of {tier, select, mod {moderators} other {admins}}.', values),
          );
        },
      }),
    ],
  });
}

const mentions = (ids: readonly string[]) =>
  ids.length === 0 ? t('no role') : ids.map((id) => `<@&${id}>`).join(', ');
