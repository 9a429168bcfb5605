import { PermissionFlagsBits } from 'discord-api-types/v10';

export type PermissionName = keyof typeof PermissionFlagsBits;

/** Permissions as a test writes them: names, or the bits themselves. */
export type PermissionSet = bigint | readonly PermissionName[];

/** Every permission there is. */
export const ALL_PERMISSIONS: bigint = Object.values(PermissionFlagsBits).reduce((all, bit) => all | bit, 0n);

/** The names, as one number. */
export function permissionBits(permissions: PermissionSet): bigint {
  if (typeof permissions === 'bigint') return permissions;
  return permissions.reduce((all, name) => all | PermissionFlagsBits[name], 0n);
}

/** What @everyone may do in a new guild. */
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

/** What a bot is invited with unless the test says otherwise: enough to moderate, but not Administrator. */
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
