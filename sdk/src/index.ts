export { z } from 'zod';
export * from './access.js';
export * from './accounts.js';
export {
  type CircuitBreaker,
  type CircuitBreakerOptions,
  CircuitOpenError,
  createCircuitBreaker,
  type Verdict,
} from './async/circuit-breaker.js';
export { createDeadline, type Deadline } from './async/deadline.js';
export {
  createFairScheduler,
  createFairSlots,
  type FairBounds,
  type FairClaim,
  type FairScheduler,
  type FairSlots,
} from './async/fair-scheduler.js';
export { createKeyedMutex, type KeyedMutex } from './async/keyed-mutex.js';
export { createRateLimiter, type RateLimiter } from './async/rate-limiter.js';
export { linkSignals } from './async/signals.js';
export { sleep } from './async/sleep.js';
export { type Limited, unlessAborted, withAbortGrace, withinLimit } from './async/time-limit.js';
export * from './clock.js';
export * from './collections.js';
export * from './commands.js';
export * from './configuration.js';
export * from './context.js';
export { defined } from './defined.js';
export * from './definition.js';
export { type AskFirst, createAskFirst, type FirstQuestion } from './discord/ask-first.js';
export {
  attachmentDownloads,
  createFreshLinks,
  type DownloadFailure,
  type DownloadOptions,
  discordAddresses,
  downloadAttachment,
  type Fetch,
  type FreshLink,
  lastingAddress,
  type MayFetch,
} from './discord/attachments.js';
export { isForbidden, isRefusal, isTransient, isUnknown, isUnreachable, unlessUnreachable } from './discord/errors.js';
export { homeChannelOf } from './discord/home-channel.js';
export { TEXT_LIMITS, type TextLimits, type TextMessage, type TextOptions, textMessages } from './discord/long-text.js';
export { mayRefer } from './discord/may-refer.js';
export { membersCalled } from './discord/members.js';
export {
  answerMessages,
  asNotice,
  asUnfinishedPart,
  isForPeopleOnly,
  isNotice,
  isUnfinishedPart,
  noticeLine,
  noticeMessages,
  withoutNoticeLines,
  withoutNoticeMark,
} from './discord/notices.js';
export {
  isOwnMessage,
  isOwnWebhookMessage,
  isWebhookMessage,
  repliesToOwn,
  speakerId,
} from './discord/own-messages.js';
export { permissionName } from './discord/permission-name.js';
export { findPlace, findSendable } from './discord/place.js';
export { profileName } from './discord/profile-name.js';
export { replyPrivately, textFile } from './discord/reply-privately.js';
export { doublingPauses, type RetryOptions, retryDiscord } from './discord/retry.js';
export { deleteOwn, editOwn, type Profile, type SendAsOptions, sendAs } from './discord/send-as.js';
export { nonceOf, type SendOnceOptions, sendOnce } from './discord/send-once.js';
export { type SendTextOptions, sendText, type TextPart } from './discord/send-text.js';
export { compareIds, createdAt, idAfter, idAt, idBefore, newerId, OLDEST_ID, olderId } from './discord/snowflakes.js';
export { isTextFile, readTextFile, type TextFile } from './discord/text-files.js';
export { type KeepTypingOptions, keepTyping } from './discord/typing.js';
export { forgetOwnWebhook, mayManageWebhooks, ownWebhook, webhookPlace } from './discord/webhooks.js';
export * from './errors.js';
export { isLoopback, type ListenAddress, parseListen, urlOf } from './http/listen-address.js';
export { isAllowedSource } from './http/origins.js';
export * from './identities.js';
export * from './ledger.js';
export * from './llm.js';
export { maxEntries } from './lru.js';
export * from './mcp-endpoint.js';
export * from './metering.js';
export * from './observability.js';
export * from './persona.js';
export * from './plugins.js';
export * from './provenance.js';
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
export { boundedText, RESULT_CHARACTERS } from './text/bounded.js';
export { isConfusable, likenessOf, skeletonOf } from './text/confusables.js';
export { formatDuration, parseDuration } from './text/duration.js';
export * from './text/escape.js';
export { isQuiet, isTimeZone, localDay, localMinutes, QUIET_HOURS, type QuietHours } from './text/local-time.js';
export { type Named, participantNames, sanitizeName } from './text/names.js';
export { inNote, isDotMessage, oneLine, withoutNotes } from './text/notes.js';
export { requestBodyText } from './text/request-body.js';
export { splitMessage } from './text/split.js';
export { matchesWildcard } from './text/wildcard.js';
export { readYaml, type YamlReading } from './text/yaml.js';
export * from './token.js';
export * from './tool-definition.js';
export * from './tool-step.js';
export * from './tools.js';
export * from './turns.js';
export * from './workers.js';
