export { LocalDiscordError, refusalSentence } from './errors.js';
export type { ExpectedMessage } from './expect-message.js';
export type { Faults } from './faults.js';
export type { ApplicationInit, UserInit } from './people/account.js';
export type { LoggedRequest } from './rest/request-log.js';
export { REST_EXCHANGES, type RestExchange } from './rest/request-log.js';
export { type PermissionName, type PermissionSet, permissionBits } from './rules/permission-names.js';
export { type LocalDiscord, type LocalDiscordOptions, startLocalDiscord } from './start.js';
export type { LocalApplication, PrivilegedIntent } from './state/applications.js';
export type { LocalChannel } from './state/channels.js';
export type { LocalEvent, LocalEventType } from './state/events.js';
export type { LocalGuild, LocalMember, LocalRole } from './state/guilds.js';
export type { LocalInteraction } from './state/interactions.js';
export type {
  LocalAttachment,
  LocalMessage,
  LocalReaction,
  LocalWebhook,
  MessageAuthor,
  UploadedFile,
} from './state/messages.js';
export type { LocalUser, OptionValue, SayOptions, SelectValue } from './state/users.js';
export type {
  ActResult,
  SeenChannel,
  SeenGuild,
  SeenPerson,
  SeenRole,
  Snapshot,
  UserAct,
  UserEvent,
  UserReply,
} from './users-api/protocol.js';
