export { z } from 'zod';
export * from './access.js';
export {
  type FileProblem,
  type FindNamed,
  fileRuleSchema,
  type NamedKind,
  readRules,
  ruleForFile,
  ruleFromFile,
  writeRules,
} from './access-file.js';
export * from './accounts.js';
export {
  createFairScheduler,
  createFairSlots,
  createKeyedMutex,
  type FairBounds,
  type FairClaim,
  type FairScheduler,
  type FairSlots,
  type KeyedMutex,
} from './async/concurrency.js';
export {
  type CircuitBreaker,
  type CircuitBreakerOptions,
  CircuitOpenError,
  createCircuitBreaker,
  createRateLimiter,
  type RateLimiter,
  type Verdict,
} from './async/throttling.js';
export {
  createDeadline,
  type Deadline,
  type Limited,
  linkSignals,
  sleep,
  unlessAborted,
  withAbortGrace,
  withinLimit,
} from './async/waiting.js';
export * from './backups.js';
export * from './checks.js';
export * from './clock.js';
export * from './cluster.js';
export * from './collections.js';
export * from './commands.js';
export * from './context.js';
export * from './decisions.js';
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
  retryDiscord,
  unlessUnreachable,
} from './discord/errors.js';
export {
  channelCalled,
  channelsCalled,
  type DiscordLink,
  findPlace,
  findSendable,
  findSendableIn,
  homeChannelOf,
  membersCalled,
  readDiscordLink,
  requireGuild,
  roleCalled,
  rolesCalled,
} from './discord/guilds.js';
export {
  auditReason,
  isAbove,
  type Ranks,
  ranksIn,
  requireAboveMember,
  requireAboveRole,
  requireTierOfRole,
} from './discord/hierarchy.js';
export {
  asNotice,
  asUnfinishedPart,
  isDotMessage,
  isForPeopleOnly,
  isNotice,
  isOwnMessage,
  isOwnWebhookMessage,
  isUnfinishedPart,
  isWebhookMessage,
  noticeLine,
  repliesToOwn,
  speakerId,
  withoutNoticeLines,
  withoutNoticeMark,
} from './discord/messages.js';
export { permissionName } from './discord/permission-names.js';
export { profileName } from './discord/profile-name.js';
export { refusalSentence, withRefusalSentences } from './discord/refusals.js';
export {
  answerMessages,
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
export { compareIds, createdAt, idAfter, idAt, idBefore, newerId, OLDEST_ID, olderId } from './discord/snowflakes.js';
export {
  deleteOwn,
  editOwn,
  forgetOwnWebhook,
  mayManageWebhooks,
  ownWebhook,
  webhookPlace,
} from './discord/webhooks.js';
export * from './errors.js';
export * from './guild-files.js';
export { isAllowedSource, isLoopback, type ListenAddress, parseListen, urlOf } from './http/listen.js';
export {
  isPublicAddress,
  literalAddressOf,
  notPublic,
  publicLookup,
  type ResolveName,
} from './http/public-addresses.js';
export * from './identities.js';
export * from './importers.js';
export * from './ledger.js';
export * from './llm.js';
export * from './metering.js';
export * from './moderation.js';
export * from './monitoring.js';
export * from './observability.js';
export { defined, maxEntries } from './option-objects.js';
export * from './persona.js';
export * from './plugin-packages.js';
export * from './plugins.js';
export * from './provenance.js';
export * from './questions.js';
export * from './schedules.js';
export * from './secrets.js';
export * from './settings.js';
export {
  type DiskTrouble,
  diskTroubleOf,
  diskTroubleText,
  storageReadError,
  storageWriteError,
} from './storage/disk-trouble.js';
export * from './storage/durable-files.js';
export * from './storage/journal.js';
export * from './tasks.js';
export { issueLanguage, plainIssue } from './text/issues.js';
export * from './text/language.js';
export { boundedText, RESULT_CHARACTERS, splitMessage } from './text/split.js';
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
export { readYesNo } from './text/yes-no.js';
export * from './token.js';
export * from './tool-definition.js';
export * from './tools.js';
export * from './turns.js';
export * from './web.js';
export * from './workers.js';
