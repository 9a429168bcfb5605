export { LocalDiscordError } from './errors.js';
export type { ExpectedMessage } from './expect-message.js';
export type { Faults } from './faults.js';
export type { ApplicationInit, UserInit } from './people/account.js';
export type { LoggedRequest } from './rest/request-log.js';
export { REST_EXCHANGES, type RestExchange } from './rest/request-log.js';
export { type PermissionName, type PermissionSet, permissionBits } from './rules/permission-names.js';
export { type LocalDiscord, type LocalDiscordOptions, startLocalDiscord } from './start.js';
export type {
  LocalApplication,
  LocalAttachment,
  LocalChannel,
  LocalEvent,
  LocalEventType,
  LocalGuild,
  LocalInteraction,
  LocalMember,
  LocalMessage,
  LocalReaction,
  LocalRole,
  LocalUser,
  LocalWebhook,
  MessageAuthor,
  OptionValue,
  PrivilegedIntent,
  SayOptions,
  UploadedFile,
} from './state.js';
