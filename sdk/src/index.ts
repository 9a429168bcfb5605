export { z } from 'zod';
export * from './access.js';
export * from './accounts.js';
export * from './administration.js';
export {
  type CircuitBreaker,
  type CircuitBreakerOptions,
  CircuitOpenError,
  createCircuitBreaker,
  createFairScheduler,
  createFairSlots,
  createKeyedMutex,
  createRateLimiter,
  type FairBounds,
  type FairClaim,
  type FairScheduler,
  type FairSlots,
  type KeyedMutex,
  once,
  type RateLimiter,
  type Verdict,
} from './async/concurrency.js';
export {
  afterGrace,
  createDeadline,
  createOutgoing,
  type Deadline,
  type Limited,
  linkSignals,
  type Outgoing,
  sleep,
  unlessAborted,
  withAbortGrace,
  withinLimit,
} from './async/waiting.js';
export * from './clock.js';
export * from './cluster.js';
export * from './collections.js';
export * from './commands.js';
export * from './context.js';
export * from './definition.js';
export {
  attachmentDownloads,
  createFreshLinks,
  type DownloadFailure,
  type DownloadOptions,
  discordAddresses,
  downloadAttachment,
  type Fetch,
  type FreshLink,
  isTextFile,
  lastingAddress,
  type MayFetch,
  readTextFile,
  type TextFile,
} from './discord/attachments.js';
export { type AskFirst, createAskFirst, type FirstQuestion, replyPrivately } from './discord/command-replies.js';
export {
  doublingPauses,
  isForbidden,
  isRefusal,
  isTransient,
  isUnknown,
  isUnreachable,
  type RetryOptions,
  refusalSentence,
  retryDiscord,
  unlessUnreachable,
  withRefusalSentences,
} from './discord/errors.js';
export {
  channelCalled,
  channelsCalled,
  type DiscordLink,
  findPlace,
  homeChannelOf,
  membersCalled,
  readDiscordLink,
  requireGuild,
  requireGuildId,
  requireGuildOf,
  roleCalled,
  rolesCalled,
} from './discord/guilds.js';
export {
  asNotice,
  asUnfinishedPart,
  compareIds,
  createdAt,
  earliestIdAt,
  idAfter,
  idAt,
  idBefore,
  isDotMessage,
  isForPeopleOnly,
  isNotice,
  isOwnMessage,
  isOwnWebhookMessage,
  isUnfinishedPart,
  isWebhookMessage,
  newerId,
  noticeLine,
  OLDEST_ID,
  olderId,
  repliesToOwn,
  speakerId,
  withoutNoticeLines,
  withoutNoticeMark,
} from './discord/messages.js';
export {
  auditReason,
  isAbove,
  permissionName,
  type Ranks,
  ranksIn,
  requireAboveMember,
  requireAboveRole,
  requireTierOfRole,
} from './discord/permissions.js';
export {
  answerMessages,
  findSendable,
  findSendableIn,
  type KeepTypingOptions,
  keepTyping,
  mayRefer,
  nonceOf,
  noticeMessages,
  type Profile,
  type SendAsOptions,
  type SendOnceOptions,
  type SendTextOptions,
  sendAs,
  sendingObstacle,
  sendOnce,
  sendText,
  TEXT_LIMITS,
  type TextLimits,
  type TextMessage,
  type TextOptions,
  type TextPart,
  textFile,
  textMessages,
} from './discord/send.js';
export {
  deleteOwn,
  editOwn,
  forgetOwnWebhook,
  mayManageWebhooks,
  ownWebhook,
  profileName,
  webhookPlace,
} from './discord/webhooks.js';
export * from './errors.js';
export * from './guild-files.js';
export {
  isAllowedSource,
  isLoopback,
  isPublicAddress,
  type ListenAddress,
  literalAddressOf,
  notPublic,
  parseListen,
  publicLookup,
  type ResolveName,
  urlOf,
} from './http/addresses.js';
export * from './identities.js';
export * from './importers.js';
export * from './ledger.js';
export * from './llm.js';
export * from './metering.js';
export * from './moderation.js';
export * from './observability.js';
export { defined, maxEntries } from './option-objects.js';
export * from './persona.js';
export * from './plugins.js';
export * from './settings.js';
export * from './storage/durable-files.js';
export {
  type DiskTrouble,
  diskTroubleOf,
  diskTroubleText,
  storageReadError,
  storageWriteError,
} from './storage/durable-files.js';
export * from './storage/journal.js';
export * from './tasks.js';
export * from './text/language.js';
export { issueLanguage, plainIssue, readYesNo } from './text/language.js';
export { splitMessage } from './text/split.js';
export {
  formatDuration,
  isQuiet,
  isTimeZone,
  localDay,
  localMinutes,
  momentOf,
  parseDuration,
  QUIET_HOURS,
  type QuietHours,
  similarTimeZone,
  type WallTime,
  wallTime,
} from './text/time.js';
export * from './text/untrusted.js';
export { escapeRegExp, matchesWildcard } from './text/wildcard.js';
export { readYaml, writeYaml, type YamlReading } from './text/yaml.js';
export * from './token.js';
export * from './tool-definition.js';
export * from './tools.js';
export * from './turns.js';
export * from './web.js';
