import {
  type Actor,
  auditReason,
  createKeyedMutex,
  isUnknown,
  permissionName,
  t,
  UserError,
  withRefusalSentences,
} from '@cinnabar/sdk';
import {
  type GuildBasedChannel,
  type NonThreadGuildBasedChannel,
  OverwriteType,
  PermissionFlagsBits,
  type PermissionsString,
  Routes,
} from 'discord.js';
import { type ModerationContext, PLUGIN } from './settings.js';

const P = PermissionFlagsBits;
/** The permissions that a locked channel removes from members. */
const WRITING =
  P.SendMessages | P.SendMessagesInThreads | P.CreatePublicThreads | P.CreatePrivateThreads | P.AddReactions;
const SPEAKING = WRITING | P.Connect | P.Speak;
/** Roles with these permissions keep theirs in a locked channel. */
const STAFF =
  P.Administrator |
  P.ManageGuild |
  P.ManageChannels |
  P.ManageMessages |
  P.ModerateMembers |
  P.KickMembers |
  P.BanMembers;

const SLOWEST_MS = 21_600_000;

/** A channel's previous overwrite; all zero when there was none. */
interface Saved {
  readonly id: string;
  readonly type: number;
  readonly existed: boolean;
  readonly allow: string;
  readonly deny: string;
}

interface Lock {
  readonly mask: string;
  readonly overwrites: readonly Saved[];
}

interface Overwrite {
  readonly id: string;
  readonly type: OverwriteType;
  readonly allow: bigint;
  readonly deny: bigint;
}

/** Slow mode and locks of channels. */
export function createChannelActs({ client, collections, services }: ModerationContext) {
  const { access, clock, tierRoles } = services;
  const mutex = createKeyedMutex();

  /** The moderator, and the bot, need the permissions in that channel, wherever the command is given. @throws UserError */
  const requireIn = async (
    actor: Actor,
    name: string,
    channel: GuildBasedChannel,
    permissions: readonly PermissionsString[],
  ) => {
    const at = { guildId: channel.guildId, channelId: channel.id };
    const rights = { kind: 'command', name, plugin: PLUGIN, at } as const;
    const wanted = permissions.map(permissionName).join(', ');
    if (!(await access.decide(actor, { ...rights, policy: { member: permissions } })).allowed) {
      throw new UserError(t('You need {wanted} in that channel.', { wanted }));
    }
    if (!(await access.decide(actor, { ...rights, policy: { bot: permissions } })).allowed) {
      throw new UserError(t('I need {wanted} in that channel. Give it to my role in its settings.', { wanted }));
    }
  };

  const write = async (channelId: string, { id, type, allow, deny }: Overwrite, reason: string) => {
    const body = { type, allow: allow.toString(), deny: deny.toString() };
    await client.rest.put(Routes.channelPermission(channelId, id), { body, reason });
  };
  const remove = async (channelId: string, id: string, reason: string) => {
    await client.rest.delete(Routes.channelPermission(channelId, id), { reason }).catch((error: unknown) => {
      // The overwrite or its role does not exist any more.
      if (!isUnknown(error)) throw error;
    });
  };

  /** The permissions that a channel grants and denies to a role or a member. */
  const bitsOf = (channel: NonThreadGuildBasedChannel, id: string) => {
    const found = channel.permissionOverwrites.cache.get(id);
    return { allow: found?.allow.bitfield ?? 0n, deny: found?.deny.bitfield ?? 0n };
  };

  /** The changes that keep members from writing, in an order in which the bot itself never loses permissions that it needs. */
  const changesFor = async (channel: NonThreadGuildBasedChannel, mask: bigint): Promise<readonly Overwrite[]> => {
    const { guild } = channel;
    const roles = new Set(
      (await Promise.all([tierRoles.list(guild.id, 'mod'), tierRoles.list(guild.id, 'admin')])).flat(),
    );
    const own = bitsOf(channel, client.user?.id ?? '');
    const isStaff = (id: string) => roles.has(id) || guild.roles.cache.get(id)?.permissions.any(STAFF) === true;
    const staff = guild.roles.cache.filter(
      ({ id, permissions, tags }) =>
        id !== guild.id && tags?.botId === undefined && isStaff(id) && !permissions.has(P.Administrator),
    );
    // A moderator with a member overwrite can still write through their role.
    const opened = [...channel.permissionOverwrites.cache.values()].filter(
      ({ id, allow }) => id !== guild.id && id !== client.user?.id && allow.any(mask) && !isStaff(id),
    );
    const everyone = bitsOf(channel, guild.id);
    return [
      {
        id: client.user?.id ?? '',
        type: OverwriteType.Member,
        allow: own.allow | (mask & ~own.deny),
        deny: own.deny,
      },
      ...staff.map((role) => {
        const { allow, deny } = bitsOf(channel, role.id);
        // Allows the staff only permissions that they had before: a lock must not grant any.
        const held = channel.permissionsFor(role).bitfield;
        return { id: role.id, type: OverwriteType.Role, allow: allow | (mask & held & ~deny), deny };
      }),
      ...opened.map(({ id, type, allow, deny }) => ({
        id,
        type,
        allow: allow.bitfield & ~mask,
        deny: deny.bitfield,
      })),
      { id: guild.id, type: OverwriteType.Role, allow: everyone.allow & ~mask, deny: everyone.deny | mask },
    ];
  };

  const lockable = (channel: GuildBasedChannel): NonThreadGuildBasedChannel => {
    if (channel.isThread()) throw new UserError(t('A thread is locked in its own menu in Discord.'));
    return channel;
  };

  const savedOf = (channel: NonThreadGuildBasedChannel, { id, type }: Overwrite): Saved => {
    const found = channel.permissionOverwrites.cache.get(id);
    return {
      id,
      type,
      existed: found !== undefined,
      allow: (found?.allow.bitfield ?? 0n).toString(),
      deny: (found?.deny.bitfield ?? 0n).toString(),
    };
  };

  /** Restores what a lock has changed; repeating it does no harm. */
  const restore = async (channel: NonThreadGuildBasedChannel, lock: Lock, auditText: string) => {
    const mask = BigInt(lock.mask);
    // The bot's own overwrite comes last, so that it keeps the permissions for the other changes.
    for (const saved of [...lock.overwrites].reverse()) {
      const now = bitsOf(channel, saved.id);
      const allow = (now.allow & ~mask) | (BigInt(saved.allow) & mask);
      const deny = (now.deny & ~mask) | (BigInt(saved.deny) & mask);
      if (!saved.existed && allow === 0n && deny === 0n) await remove(channel.id, saved.id, auditText);
      else if (saved.type === OverwriteType.Member || channel.guild.roles.cache.has(saved.id)) {
        await write(channel.id, { id: saved.id, type: saved.type, allow, deny }, auditText);
      }
    }
  };

  return {
    async slowmode(actor: Actor, channel: GuildBasedChannel, durationMs: number, reason?: string): Promise<void> {
      if (durationMs > SLOWEST_MS) throw new UserError(t('Discord has slow modes of at most six hours.'));
      if (!('setRateLimitPerUser' in channel))
        throw new UserError(t('There is no slow mode in a channel of this kind.'));
      await requireIn(actor, 'slowmode', channel, ['ManageChannels']);
      const seconds = Math.round(durationMs / 1_000);
      await withRefusalSentences(() => channel.setRateLimitPerUser(seconds, auditReason(client, actor, reason)));
    },
    /** Allows only the staff to write. The previous state is recorded first. @throws UserError */
    lock: (actor: Actor, where: GuildBasedChannel, reason?: string): Promise<void> =>
      mutex.run(where.id, async () => {
        const channel = lockable(where);
        const document = collections.locks.of(channel);
        if ((await document.find()) !== undefined) {
          throw new UserError(t('{channel} is locked already. `unlock` opens it.', { channel: `<#${channel.id}>` }));
        }
        await requireIn(actor, 'lock', channel, ['ManageChannels', 'ManageRoles']);
        // Discord lets a bot grant and deny only permissions that the bot has.
        const me = channel.guild.members.me ?? (await channel.guild.members.fetchMe());
        const held = channel.permissionsFor(me).bitfield | me.permissions.bitfield;
        const mask = (channel.isVoiceBased() ? SPEAKING : WRITING) & held;
        const changes = await changesFor(channel, mask);
        const overwrites = changes.map((change) => savedOf(channel, change));
        const lock = {
          guildId: channel.guildId,
          at: clock.now(),
          byUserId: actor.userId,
          mask: mask.toString(),
          overwrites,
        };
        await document.set(lock);
        const auditText = auditReason(client, actor, reason);
        try {
          await withRefusalSentences(async () => {
            for (const change of changes) await write(channel.id, change, auditText);
          });
        } catch (error) {
          await restore(channel, lock, auditText);
          await document.delete();
          throw error;
        }
      }),
    /** Restores what the lock has changed; other changes since then stay. @throws UserError */
    unlock: (actor: Actor, where: GuildBasedChannel, reason?: string): Promise<void> =>
      mutex.run(where.id, async () => {
        const channel = lockable(where);
        const document = collections.locks.of(channel);
        const lock = await document.find();
        if (lock === undefined) {
          throw new UserError(t('{channel} was not locked by me.', { channel: `<#${channel.id}>` }));
        }
        await requireIn(actor, 'unlock', channel, ['ManageChannels', 'ManageRoles']);
        await withRefusalSentences(() => restore(channel, lock, auditReason(client, actor, reason)));
        await document.delete();
      }),
    forget: (channelId: string) => collections.locks.of(channelId).delete(),
  };
}
export type ChannelActs = ReturnType<typeof createChannelActs>;
