import type { Client, Guild, GuildMember, PermissionsString, Role } from 'discord.js';
import { type Access, type Actor, TIERS, type TierRoles } from '../access.js';
import { UserError } from '../errors.js';
import { t } from '../text/language.js';
import { nameText, visible } from '../text/untrusted.js';
import { unlessUnreachable } from './errors.js';

/**
 * The role hierarchy applies to the requester as it does to the bot: no member can change roles or members above themselves through the bot. See
 * https://discord.com/developers/docs/topics/permissions#permission-hierarchy
 */
export interface Ranks {
  readonly asking: GuildMember;
  readonly bot: GuildMember;
}

/** The requester and the bot, with their current roles. @throws UserError when the requester is not a member of the guild */
export async function ranksIn(guild: Guild, { userId }: Pick<Actor, 'userId'>): Promise<Ranks> {
  const asking = await unlessUnreachable(guild.members.fetch({ user: userId, force: true }));
  if (asking === undefined) throw new UserError(t('You are not a member of this server.'));
  return { asking, bot: guild.members.me ?? (await guild.members.fetchMe()) };
}

/** @throws UserError unless the role is below both the requester and the bot */
export function requireAboveRole({ asking, bot }: Ranks, role: Role): void {
  const name = nameText(role.name);
  if (!isAbove(asking, role)) throw new UserError(t('The role {name} is not below your highest role.', { name }));
  if (!isAbove(bot, role)) throw new UserError(t('The role {name} is not below my highest role.', { name }));
}

/**
 * A role of the bot's moderators or admins may only be added and removed by members of that tier: otherwise a moderator could make admins of the bot.
 * @throws UserError
 */
export async function requireTierOfRole(
  { access, tierRoles }: { readonly access: Pick<Access, 'tierOf'>; readonly tierRoles: Pick<TierRoles, 'list'> },
  actor: Actor,
  { guild, id, name }: Role,
): Promise<void> {
  for (const tier of ['admin', 'mod'] as const) {
    if (!(await tierRoles.list(guild.id, tier)).includes(id)) continue;
    const held = await access.tierOf({ ...actor, guildId: guild.id });
    if (TIERS.indexOf(held) >= TIERS.indexOf(tier)) return;
    throw new UserError(
      tier === 'admin'
        ? t('The role {name} makes members admins of mine: only my admins give or take it.', { name: nameText(name) })
        : t('The role {name} makes members moderators of mine: only my moderators give or take it.', {
            name: nameText(name),
          }),
    );
  }
}

/**
 * For a rule of the guild there is no requester, and only the bot's rank counts.
 * @throws UserError unless the member is below both the requester and the bot
 */
export function requireAboveMember({ asking, bot }: Pick<Ranks, 'bot'> & Partial<Ranks>, member: GuildMember): void {
  const name = nameText(member.displayName);
  if (member.guild.ownerId === member.id) throw new UserError(t('{name} owns this server.', { name }));
  if (asking !== undefined && !isAbove(asking, member.roles.highest))
    throw new UserError(t('{name} is not below you.', { name }));
  if (isAbove(bot, member.roles.highest)) return;
  throw new UserError(t('{name} is not below me. Move my role above theirs in the settings of the server.', { name }));
}

/** Whether a member ranks above a role; the owner of the guild ranks above all. */
export function isAbove(member: GuildMember, role: Role): boolean {
  return member.guild.ownerId === member.id || member.roles.highest.comparePositionTo(role) > 0;
}

/** Discord's limit for the reason in an audit log. */
const MAX_REASON_LENGTH = 512;

/** The reason for Discord's audit log, whose entry names only the bot: first the requester, then the given reason. */
export function auditReason(client: Client, { userId, identity }: Actor, reason: string | undefined): string {
  const name = client.users.cache.get(userId)?.username ?? 'a member';
  const agent = identity === undefined ? '' : ` through ${identity}`;
  const asked = `asked by ${name} (${userId})${agent}`;
  const given = visible(reason?.trim() ?? '').slice(0, MAX_REASON_LENGTH - asked.length - 2);
  return given === '' ? asked : `${asked}: ${given}`;
}

const NAMES: Readonly<Record<PermissionsString, () => string>> = {
  CreateInstantInvite: () => t('Create Instant Invite'),
  KickMembers: () => t('Kick Members'),
  BanMembers: () => t('Ban Members'),
  Administrator: () => t('Administrator'),
  ManageChannels: () => t('Manage Channels'),
  ManageGuild: () => t('Manage Guild'),
  AddReactions: () => t('Add Reactions'),
  ViewAuditLog: () => t('View Audit Log'),
  PrioritySpeaker: () => t('Priority Speaker'),
  Stream: () => t('Stream'),
  ViewChannel: () => t('View Channel'),
  SendMessages: () => t('Send Messages'),
  SendTTSMessages: () => t('Send TTSMessages'),
  ManageMessages: () => t('Manage Messages'),
  EmbedLinks: () => t('Embed Links'),
  AttachFiles: () => t('Attach Files'),
  ReadMessageHistory: () => t('Read Message History'),
  MentionEveryone: () => t('Mention Everyone'),
  UseExternalEmojis: () => t('Use External Emojis'),
  ViewGuildInsights: () => t('View Guild Insights'),
  Connect: () => t('Connect'),
  Speak: () => t('Speak'),
  MuteMembers: () => t('Mute Members'),
  DeafenMembers: () => t('Deafen Members'),
  MoveMembers: () => t('Move Members'),
  UseVAD: () => t('Use VAD'),
  ChangeNickname: () => t('Change Nickname'),
  ManageNicknames: () => t('Manage Nicknames'),
  ManageRoles: () => t('Manage Roles'),
  ManageWebhooks: () => t('Manage Webhooks'),
  ManageEmojisAndStickers: () => t('Manage Emojis And Stickers'),
  ManageGuildExpressions: () => t('Manage Guild Expressions'),
  UseApplicationCommands: () => t('Use Application Commands'),
  RequestToSpeak: () => t('Request To Speak'),
  ManageEvents: () => t('Manage Events'),
  ManageThreads: () => t('Manage Threads'),
  CreatePublicThreads: () => t('Create Public Threads'),
  CreatePrivateThreads: () => t('Create Private Threads'),
  UseExternalStickers: () => t('Use External Stickers'),
  SendMessagesInThreads: () => t('Send Messages In Threads'),
  UseEmbeddedActivities: () => t('Use Embedded Activities'),
  ModerateMembers: () => t('Moderate Members'),
  ViewCreatorMonetizationAnalytics: () => t('View Creator Monetization Analytics'),
  UseSoundboard: () => t('Use Soundboard'),
  CreateGuildExpressions: () => t('Create Guild Expressions'),
  CreateEvents: () => t('Create Events'),
  UseExternalSounds: () => t('Use External Sounds'),
  SendVoiceMessages: () => t('Send Voice Messages'),
  SetVoiceChannelStatus: () => t('Set Voice Channel Status'),
  SendPolls: () => t('Send Polls'),
  UseExternalApps: () => t('Use External Apps'),
  PinMessages: () => t('Pin Messages'),
  BypassSlowmode: () => t('Bypass Slowmode'),
};

/** The name of a permission for people, in the current language: `Manage Messages` for `ManageMessages`. */
export function permissionName(permission: string): string {
  return isKnown(permission) ? NAMES[permission]() : permission.replace(/(?<=[a-z])(?=[A-Z])/g, ' ');
}

const isKnown = (permission: string): permission is PermissionsString => Object.hasOwn(NAMES, permission);
