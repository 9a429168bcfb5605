import { PermissionFlagsBits } from 'discord-api-types/v10';

export type PermissionName = keyof typeof PermissionFlagsBits;

/** Permissions in a test: names, or the bits. */
export type PermissionSet = bigint | readonly PermissionName[];

/** All permissions. */
export const ALL_PERMISSIONS: bigint = Object.values(PermissionFlagsBits).reduce((all, bit) => all | bit, 0n);

/** The names, as bits. */
export function permissionBits(permissions: PermissionSet): bigint {
  if (typeof permissions === 'bigint') return permissions;
  return permissions.reduce((all, name) => all | PermissionFlagsBits[name], 0n);
}

/** The permissions of @everyone in a new guild. */
export const EVERYONE_PERMISSIONS = permissionBits([
  'ViewChannel',
  'CreateInstantInvite',
  'ChangeNickname',
  'SendMessages',
  'SendMessagesInThreads',
  'CreatePublicThreads',
  'CreatePrivateThreads',
  'EmbedLinks',
  'AttachFiles',
  'AddReactions',
  'UseExternalEmojis',
  'UseExternalStickers',
  'MentionEveryone',
  'ReadMessageHistory',
  'SendVoiceMessages',
  'SendPolls',
  'UseApplicationCommands',
  'UseEmbeddedActivities',
  'UseExternalApps',
  'Connect',
  'Speak',
  'Stream',
  'UseSoundboard',
  'UseExternalSounds',
  'UseVAD',
  'RequestToSpeak',
]);

/** The default permissions of an invited bot: enough to moderate, without Administrator. */
export const BOT_PERMISSIONS = permissionBits([
  'ViewChannel',
  'SendMessages',
  'SendMessagesInThreads',
  'CreatePublicThreads',
  'CreatePrivateThreads',
  'ManageThreads',
  'EmbedLinks',
  'AttachFiles',
  'ReadMessageHistory',
  'AddReactions',
  'UseExternalEmojis',
  'MentionEveryone',
  'ManageMessages',
  'PinMessages',
  'ManageWebhooks',
  'ManageChannels',
  'ManageRoles',
  'ManageNicknames',
  'ChangeNickname',
  'KickMembers',
  'BanMembers',
  'ModerateMembers',
  'ViewAuditLog',
]);
