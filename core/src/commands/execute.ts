import {
  type Access,
  type AccessPolicy,
  type AccessRequest,
  type Actor,
  type AuditLog,
  CinnabarError,
  type Clock,
  type CommandContext,
  createOutgoing,
  createRateLimiter,
  type DecisionReason,
  formatDuration,
  isTransient,
  isUnreachable,
  type Logger,
  type MessageDecisions,
  type Random,
  type RateLimiter,
  sentenceOf,
  TIERS,
  t,
} from '@cinnabar/sdk';
import { type Channel, DiscordAPIError, type GuildMember, type Message, RESTJSONErrorCodes } from 'discord.js';
import { LRUCache } from 'lru-cache';
import type { Answered } from '../cluster/claims.js';
import { untilInterrupted } from '../gateway/boundary.js';
import { type Answers, asNoticeBody, denial, explain, type Failed, isIgnored, isReadByOperator } from './answers.js';

import { bindOptions, type GivenValue, type Problem, type Values } from './arguments.js';
import type { Place } from './find.js';
import type { CommandEntry } from './registry.js';

type CommandOutcome = 'done' | 'denied' | 'refused' | 'failed' | 'unanswered';

/** The services that commands need to run. */
export interface Execution {
  readonly access: Access;
  readonly random: Random;
  readonly clock: Clock;
  readonly cooldowns: ReturnType<typeof createCooldowns>;
  readonly lost: LostAnswers;
  /** Counts a use for the metrics. */
  readonly count: (call: Call, outcome: CommandOutcome) => void;
  /** Records acts of moderators and admins, and refusals. */
  readonly audit: Pick<AuditLog, 'record'>;
  /** Records why a message that named a command was refused, for `!why`. */
  readonly decisions?: Pick<MessageDecisions, 'note'>;
}

/**
 * The only path of every command: access, options, cooldown, then the command itself. The caller gets an answer about every error; unexpected errors are also
 * thrown again, so that the error boundary logs them. Does not await data that are in memory.
 * @returns `unanswered` when the caller got no answer
 */
export async function execute(execution: Execution, call: Call): Promise<Answered> {
  const { entry, actor, answers } = call;
  const { signal } = entry.owner.scope;
  /** Whether the audit records a successful use. */
  let isAct = entry.audited || isForStaff(entry.policy);
  const requireAccess: CommandContext['requireAccess'] = async (policy, name = entry.name) => {
    const decision = await execution.access.decide(actor, { kind: 'command', name, plugin: entry.owner.id, policy });
    if (!decision.allowed) throw denial(decision);
    isAct ||= isForStaff(policy);
  };
  const own = ownAnswers(answers, signal, entry.owner.plugin.manifest.administrative === true);
  try {
    const decision = await execution.access.decide(actor, subjectOf(entry));
    if (!decision.allowed) throw denial(decision);
    isAct ||= await isForStaffHere(entry.policy, actor);
    const read = readValues(call);
    const values = read instanceof Promise ? await read : read;
    execution.cooldowns.use(entry, actor);
    const [member, channel] = [call.member(), call.channel()];
    const context = contextOf(
      call,
      member instanceof Promise ? await member : member,
      channel instanceof Promise ? await channel : channel,
      { reply: own.reply, sending: own.outgoing.add, requireAccess },
    );
    const work: unknown = entry.run(context, values);
    await (work instanceof Promise ? untilInterrupted(signal, execution.clock, work, own.outgoing) : work);
    const finished = answers.finish();
    if (finished !== undefined) await finished;
    execution.count(call, 'done');
    if (isAct)
      execution.audit.record({
        actor,
        plugin: entry.owner.id,
        act: actOf(call),
        outcome: 'done',
        reads: isReading(call),
      });
    return 'answered';
  } catch (error) {
    const outcome = outcomeOf(error);
    execution.count(call, outcome);
    // When a command failed for another reason (a mistyped option, a disk), the audit does not record the member's words.
    if (outcome === 'denied' || (isAct && outcome !== 'unanswered')) {
      // The first line only: the others show the usage.
      const reason = sentenceOf(error)?.split('\n', 1)[0];
      execution.audit.record({ actor, plugin: entry.owner.id, act: actOf(call), outcome, reason });
    }
    noteRefusal(execution, call, error);
    if (isInterruption(error) && own.hasLastWord()) return 'answered';
    // The process that has taken the lease answers the member.
    if (error instanceof CinnabarError && error.code === 'CINNABAR_LEASE_LOST') return 'unanswered';
    const { log } = entry.owner;
    const forOperator = await isReadByOperator(execution.access, actor, entry.policy);
    return await answerFailure(execution, { what: `command ${entry.name}`, actor, error, log, forOperator }, answers);
  } finally {
    answers.close();
  }
}

const isInterruption = (error: unknown) => error instanceof CinnabarError && error.code === 'CINNABAR_INTERRUPTED';

/** The answers that the command itself gives, which are tracked so that an interruption is reported only where the command does not report it. */
function ownAnswers(answers: Answers, signal: AbortSignal, isAdministrative: boolean) {
  const outgoing = createOutgoing();
  let isAfterCancelling = false;
  const reply: CommandContext['reply'] = (body) => {
    if (signal.aborted) isAfterCancelling = true;
    return outgoing.add(answers.reply(isAdministrative ? asNoticeBody(body) : body));
  };
  return {
    reply,
    outgoing,
    /** Whether the command itself has answered after it was cancelled. */
    hasLastWord: () => isAfterCancelling,
  };
}

/** Records a refusal for `!why`. Slash commands are left out, since `!why` is asked about a message. */
function noteRefusal({ decisions }: Execution, { entry, message }: Call, error: unknown): void {
  if (message === null || isIgnored(error)) return;
  const why = sentenceOf(error)?.split('\n', 1)[0] ?? t('It failed; the log has the reason.');
  decisions?.note(message.id, { text: t('The command `{name}`: {why}', { name: entry.name, why }) });
}

/** Whether a policy requires a moderator or a higher tier: the audit then records the command or component. */
export function isForStaff({ tier = 'everyone' }: AccessPolicy): boolean {
  return TIERS.indexOf(tier) >= TIERS.indexOf('mod');
}

/** The same for a command whose tier a setting decides. */
async function isForStaffHere({ tierFrom }: AccessPolicy, actor: Actor): Promise<boolean> {
  const tier = await tierFrom?.(actor);
  return tier !== undefined && (tier === 'nobody' || isForStaff({ tier }));
}

/** The command with its arguments for the audit, without values that the command withholds. */
function actOf({ entry, message, prefix, given, typed }: Call): string {
  const { name, withheld } = entry;
  if (withheld === true) return name;
  const isWhole = withheld === false;
  if (isWhole && typed !== undefined) return typed.startsWith(prefix) ? typed.slice(prefix.length) : typed;
  const read = given();
  if ('problem' in read) return name;
  const hidden = isWhole ? [] : withheld(Object.fromEntries(read.given));
  const words = [...read.given].map(([option, value]) => {
    const shown = hidden.includes(option) ? '(secret)' : value;
    return message === null ? `${option}:${shown}` : shown;
  });
  return [name, ...words].join(' ');
}

/** Whether this use of a command has only read something. */
function isReading({ entry: { reads }, given }: Call): boolean {
  if (typeof reads === 'boolean') return reads;
  const read = given();
  return !('problem' in read) && reads(Object.fromEntries(read.given));
}

/** The outcome of a command that has thrown. */
export function outcomeOf(error: unknown): CommandOutcome {
  if (error instanceof AnswerLost) return 'unanswered';
  if (isIgnored(error) || (error instanceof CinnabarError && error.code === 'CINNABAR_ACCESS_DENIED')) return 'denied';
  return sentenceOf(error) === undefined ? 'failed' : 'refused';
}

function subjectOf({ name, owner, policy }: CommandEntry): AccessRequest {
  return { kind: 'command', name, plugin: owner.id, policy };
}

function readValues(call: Call): Values | Promise<Values> {
  const read = call.given();
  if ('problem' in read) throw invalid(call, read.problem);
  if (call.entry.specs.length === 0) return {};
  return bindOptions(call.entry.specs, read.given, call.place).then((bound) => {
    if ('problem' in bound) throw invalid(call, bound.problem);
    return bound.values;
  });
}

function invalid(call: Call, problem: Problem): CinnabarError {
  return new CinnabarError('CINNABAR_OPTION_INVALID', { detail: call.show(problem) });
}

function contextOf(
  call: Call,
  member: GuildMember | null,
  channel: Channel,
  calls: Pick<CommandContext, 'reply' | 'sending' | 'requireAccess'>,
): CommandContext {
  const { entry, answers, place } = call;
  entry.owner.entrusted?.give(call.actor);
  return {
    name: entry.name,
    source: call.source,
    actor: call.actor,
    user: place.user,
    member,
    guild: place.guild,
    channel,
    message: call.message,
    prefix: call.prefix,
    signal: entry.owner.scope.signal,
    ...calls,
    defer: () => answers.defer(),
  };
}

/** One use of a command, by message or by slash: contains all differences between the two. */
export interface Call {
  readonly entry: CommandEntry;
  readonly source: 'prefix' | 'slash';
  readonly prefix: string;
  readonly actor: Actor;
  readonly place: Place;
  readonly message: Message | null;
  /** The text of the message, with an alias replaced by what it stands for. */
  readonly typed?: string;
  readonly answers: Answers;
  channel(): Promise<Channel> | Channel;
  member(): Promise<GuildMember | null> | GuildMember | null;
  /** The values given for the options, before they are checked. */
  given(): { readonly given: ReadonlyMap<string, GivenValue> } | { readonly problem: Problem };
  /** How a problem is shown: with the usage when the command was typed. */
  show(problem: Problem): string;
}

/**
 * Sends the caller the sentence about an error.
 * @returns `unanswered` when the answer could not be sent, which is only logged
 * @throws Error for the error boundary when it was a failure and not an answer to the user
 */
export async function answerFailure(
  { random, lost }: Pick<Execution, 'random' | 'lost'>,
  failed: Failed,
  answers: Answers,
): Promise<Answered> {
  const { actor, error } = failed;
  const unanswered = (loss: AnswerLost): Answered => {
    lost.report(actor.channelId, loss);
    return 'unanswered';
  };
  if (error instanceof AnswerLost) return unanswered(error);
  if (isIgnored(error)) {
    await answers.ignore();
    return 'answered';
  }
  const { sentence, failure } = explain(failed, random);
  let answered: Answered = 'answered';
  try {
    await answers.refuse(sentence);
  } catch (cause) {
    if (!(cause instanceof AnswerLost)) throw failure ?? cause;
    answered = unanswered(cause);
  }
  if (failure !== undefined) throw failure;
  return answered;
}

/** The number of users (guilds, channels) whose uses are kept for one command; beyond it, the least recent one is dropped. */
const REMEMBERED = 2000;

/** The cooldowns of all commands, each kept as long as its command. */
export function createCooldowns(clock: Clock) {
  const limiters = new WeakMap<CommandEntry, RateLimiter>();
  return {
    /** The reason why one more use would be refused now, if there is one. */
    refusal(entry: CommandEntry, actor: Actor): DecisionReason | undefined {
      if (entry.cooldown === undefined) return undefined;
      const { uses, by = 'user' } = entry.cooldown;
      const waitMs = limiters.get(entry)?.waitMs(keyOf(by, actor), uses) ?? 0;
      if (waitMs === 0) return undefined;
      const seconds = Math.ceil(waitMs / 1000);
      return {
        rule: 'cooldown',
        allowed: false,
        text: t('it was used too often in a short time'),
        remedy: t('Wait {seconds} s.', { seconds }),
      };
    },
    /** Counts one use. @throws CINNABAR_COOLDOWN when there were too many */
    use(entry: CommandEntry, actor: Actor): void {
      if (entry.cooldown === undefined) return;
      const { uses, perMs, by = 'user' } = entry.cooldown;
      const limiter = limiters.get(entry) ?? createRateLimiter(clock, perMs, REMEMBERED);
      limiters.set(entry, limiter);
      const excess = limiter.take(keyOf(by, actor), uses);
      if (excess !== undefined) throw new CinnabarError('CINNABAR_COOLDOWN', { wait: waitInWords(excess.waitMs) });
    },
  };
}

function keyOf(by: 'user' | 'guild' | 'channel', { userId, guildId, channelId }: Actor): string {
  if (by === 'user') return userId;
  return by === 'guild' ? (guildId ?? channelId) : channelId;
}

/** The number of channels for which it is kept that the log has an entry. */
const REMEMBERED_CHANNELS = 1000;

/** An answer that could not be sent. It passes through the command's code, so it must be distinguishable from the command's own errors. */
class AnswerLost extends Error {
  constructor(cause: unknown) {
    super(`The answer could not be given: ${cause instanceof Error ? cause.message : String(cause)}`, { cause });
    this.name = 'AnswerLost';
  }
}

type LostAnswers = ReturnType<typeof createLostAnswers>;

/** Limits log entries about answers that cannot be sent to one for each channel until an answer succeeds there. */
export function createLostAnswers(log: Logger) {
  const silent = new LRUCache<string, true>({ max: REMEMBERED_CHANNELS });
  return {
    /** Sends, and resets the channel's entry on success. @throws AnswerLost when Discord does not let the bot speak there, or has failed for too long */
    async attempt<T>(channelId: string, send: () => Promise<T>): Promise<T> {
      try {
        const sent = await send();
        silent.delete(channelId);
        return sent;
      } catch (error) {
        throw isUnsayable(error) || isTransient(error) ? new AnswerLost(error) : error;
      }
    },
    /** Logs an `AnswerLost` the first time in a row for that channel. */
    report(channelId: string, error: AnswerLost): void {
      if (silent.has(channelId)) return;
      silent.set(channelId, true);
      log.warn('the bot cannot answer commands in this channel', { channelId, error });
    },
  };
}

/** Whether nothing can be sent there (any more): no such place or interaction, missing permissions, or an expired token. */
export function isUnsayable(error: unknown): boolean {
  if (isUnreachable(error)) return true;
  return error instanceof DiscordAPIError && error.code === RESTJSONErrorCodes.InvalidWebhookToken;
}

const MINUTE_MS = 60_000;

/** Formats a wait, rounded up: `90 s`, `1h12m`. */
function waitInWords(waitMs: number): string {
  if (waitMs <= 2 * MINUTE_MS) return `${Math.ceil(waitMs / 1000)} s`;
  return formatDuration(Math.ceil(waitMs / MINUTE_MS) * MINUTE_MS);
}
