import { isTransient, UserError } from '@cinnabar/sdk';
import type { Guild, GuildMember } from 'discord.js';
import { LIMITS, type RolesContext } from './context.js';
import { type Grants, Obstacle } from './grants.js';

/** Gives new members and bots the roles that admins have chosen, after the membership screening where they want that. */
export function watchJoins({ on, ready, client, settings, collections, log }: RolesContext, grants: Grants): void {
  /** Who waits for the screening, by guild: what is stored, since each change of a member asks for it. */
  const waiting = new Map<string, Promise<Set<string>>>();
  const waitingIn = (guild: Guild): Promise<Set<string>> => {
    const known = waiting.get(guild.id) ?? load(guild);
    waiting.set(guild.id, known);
    known.catch(() => waiting.delete(guild.id));
    return known;
  };
  const load = async (guild: Guild) =>
    new Set((await collections.waiting.of(guild).get()).members.map(({ userId }) => userId));

  const changeWaiting = async (guild: Guild, change: (ids: Set<string>) => void): Promise<void> => {
    const { members } = await collections.waiting.of(guild).update((draft) => {
      const ids = new Set(draft.members.map(({ userId }) => userId));
      change(ids);
      // In a raid those who came first are given up: they are seen again when they pass, without their roles.
      draft.members = [...ids].slice(-LIMITS.waiting).map((userId) => ({ userId }));
    });
    waiting.set(guild.id, Promise.resolve(new Set(members.map(({ userId }) => userId))));
  };

  const give = async (member: GuildMember): Promise<void> => {
    const { joinRoles, botRoles } = await settings.guild(member.guild).get();
    for (const roleId of member.user.bot ? botRoles : joinRoles) {
      try {
        const plan = (held: ReadonlySet<string>) => ({ give: held.has(roleId) ? [] : [roleId], take: [] });
        await grants.change(member.guild, member.id, plan, 'role for new members');
      } catch (error) {
        if (error instanceof Obstacle) await grants.report(member.guild, error.message);
        else if (error instanceof UserError)
          log.info('a new member got no role', { guildId: member.guild.id, reason: error.message });
        else throw error;
      }
    }
  };

  on('guildMemberAdd', async (member) => {
    const { joinRoles, botRoles, afterScreening } = await settings.guild(member.guild).get();
    if ((member.user.bot ? botRoles : joinRoles).length === 0) return;
    if (member.user.bot || !afterScreening || !member.pending) return give(member);
    await changeWaiting(member.guild, (ids) => ids.add(member.id));
  });

  on('guildMemberUpdate', async (_before, member) => {
    if (member.pending || !(await waitingIn(member.guild)).has(member.id)) return;
    // Giving a role twice changes nothing: those who wait are taken off the list once they have it.
    await give(member);
    await changeWaiting(member.guild, (ids) => ids.delete(member.id));
  });

  on('guildMemberRemove', async ({ guild, id }) => {
    if ((await waitingIn(guild)).has(id)) await changeWaiting(guild, (ids) => ids.delete(id));
  });

  // Who has passed, or left, while the bot was away.
  ready(async () => {
    for await (const [guildId, { members }] of collections.waiting.entries()) {
      const guild = client.guilds.cache.get(guildId);
      if (guild === undefined) continue;
      for (const { userId } of members) {
        const member = await guild.members.fetch({ user: userId, force: true }).catch((error: unknown) => {
          if (isTransient(error)) throw error;
          return undefined;
        });
        if (member?.pending === true) continue;
        if (member !== undefined) await give(member);
        await changeWaiting(guild, (ids) => ids.delete(userId));
      }
    }
  });
}
