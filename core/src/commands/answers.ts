import {
  type Access,
  type AccessPolicy,
  type Actor,
  asNotice,
  CinnabarError,
  type Decision,
  doublingPauses,
  isForOperators,
  type Logger,
  noticeMessages,
  operatorSentenceOf,
  type Random,
  type Reply,
  type ReplyBody,
  sentenceOf,
  t,
  textMessages,
  withReference,
} from '@cinnabar/sdk';
import {
  type Message,
  MessageFlags,
  type MessageMentionOptions,
  type MessageReplyOptions,
  type RepliableInteraction,
} from 'discord.js';
import { refusalReasons } from '../access/access.js';

/** The answers to one use of a command, by message or by slash. */
export interface Answers {
  /** Resolves with the last message sent. */
  reply(reply: Reply): Promise<Message>;
  /** Shows that the bot is at work. */
  defer(): Promise<void>;
  /** Sends a refusal to the caller, visible to the caller alone where Discord can do that. */
  refuse(sentence: string): Promise<void>;
  /** Ends the use without an answer, for callers whom the bot ignores. */
  ignore(): Promise<void>;
  /** Called when the command has succeeded. */
  finish(): Promise<void> | undefined;
  /** Called when the command has ended, with or without success. */
  close(): void;
}

/** The sentence for a person about a thrown error, and the error that the error boundary should log and count. */
interface Explanation {
  readonly sentence: string;
  /** `undefined` when it was not a failure but an answer to the user. */
  readonly failure: Error | undefined;
}

export interface Failed {
  /** The name of the command or component in the log: `command roll`. */
  readonly what: string;
  readonly actor: Actor;
  readonly error: unknown;
  /** The logger of the plugin that owns the command or component. */
  readonly log: Logger;
  /** Whether only the bot's operators read the answer, unless they chose a public place. */
  readonly forOperator: boolean;
}

/**
 * The only place that decides how much of an error is shown. Members read an error whose audience includes them, otherwise a reference to the log; operators
 * read the reason.
 */
export function explain({ what, actor, error, log, forOperator }: Failed, random: Random): Explanation {
  const reason = operatorSentenceOf(error);
  if (forOperator && reason !== undefined) return { sentence: reason, failure: undefined };
  const isWhole = !isForOperators(error);
  const reference = isWhole ? '' : random.id();
  const sentence = sentenceOf(error, reference);
  if (sentence !== undefined && isWhole) return { sentence, failure: undefined };
  const because = error instanceof Error ? error.message : String(error);
  const entry = `${what} failed (reference ${reference}, user ${actor.userId}, channel ${actor.channelId}): ${because}`;
  // An error with its own sentence is not a fault of the plugin, so its listeners are not paused.
  if (sentence !== undefined) {
    log.warn(entry, { error, guildId: actor.guildId });
    return { sentence, failure: undefined };
  }
  return {
    sentence: withReference(t('Something went wrong while doing that.'), reference),
    failure: new Error(entry, { cause: error }),
  };
}

/** Whether an answer goes to the bot's operators: their own commands, wherever they use them, and their direct messages. */
export async function isReadByOperator(
  access: Pick<Access, 'tierOf'>,
  actor: Actor,
  policy: AccessPolicy | undefined,
): Promise<boolean> {
  if (policy?.tier === 'botOwner') return true;
  return actor.guildId === null && (await access.tierOf(actor)) === 'botOwner';
}

/** A refusal as an error whose sentence names every rule that denied it. */
export function denial(decision: Decision): CinnabarError {
  const code = decision.ignored === true ? 'CINNABAR_IGNORED' : 'CINNABAR_ACCESS_DENIED';
  return new CinnabarError(code, { reasons: refusalReasons(decision) });
}

export const isIgnored = (error: unknown): boolean =>
  error instanceof CinnabarError && error.code === 'CINNABAR_IGNORED';

/** Ends an interaction of a member whom the bot ignores, without an answer. */
export async function ignoreInteraction(interaction: RepliableInteraction): Promise<void> {
  if (interaction.replied || interaction.deferred) return;
  if (interaction.isMessageComponent() || (interaction.isModalSubmit() && interaction.isFromMessage())) {
    await interaction.deferUpdate();
    return;
  }
  await interaction.deferReply({ flags: MessageFlags.Ephemeral });
  await interaction.deleteReply();
}

/** One message of a reply. */
export type Part = Pick<MessageReplyOptions, 'content' | 'embeds' | 'components' | 'files'> & {
  readonly allowedMentions: MessageMentionOptions;
};

/**
 * The messages that a reply becomes: split text (a very long one becomes a file), with embeds, components and files on the last. Only the caller can be pinged.
 */
export function partsOf(reply: Reply, callerId: string): readonly [...Part[], Part] {
  const { content, embeds, components, files, notice = false } = asBody(reply);
  const allowedMentions: MessageMentionOptions = { parse: [], repliedUser: true, users: [callerId] };
  const texts = notice ? noticesOf(content ?? '') : textMessages(content ?? '');
  const { content: lastText, files: textFiles = [] } = texts.at(-1) ?? {};
  const allFiles = [...textFiles, ...(files ?? [])];
  const last: Part = {
    ...(lastText === undefined ? {} : { content: lastText }),
    ...(embeds === undefined ? {} : { embeds }),
    ...(components === undefined ? {} : { components }),
    ...(allFiles.length === 0 ? {} : { files: allFiles }),
    allowedMentions,
  };
  return [...texts.slice(0, -1).map((text) => ({ content: text.content, allowedMentions })), last];
}

/** Messages with only embeds or files are marked, too. */
function noticesOf(text: string): ReturnType<typeof textMessages> {
  return text === '' ? [{ content: asNotice('') }] : noticeMessages(text);
}

/** A reply as an object. */
export function asBody(reply: Reply): ReplyBody {
  return typeof reply === 'string' ? { content: reply } : reply;
}

/** A reply that is a notice unless its `notice` is set. */
export function asNoticeBody(reply: Reply): ReplyBody {
  return { notice: true, ...asBody(reply) };
}

const LONGEST = 60;

/** Someone's text as inline code: one line, cut when long, unable to close the code or to become markup. */
export function echo(text: string): string {
  const line = text.replaceAll('`', 'ˋ').replaceAll(/\s+/g, ' ').trim();
  if (line === '') return t('nothing');
  const characters = [...line];
  return characters.length > LONGEST ? `\`${characters.slice(0, LONGEST).join('')}…\`` : `\`${line}\``;
}

/** Sends a notice that only the user of a command or component sees, whether or not the interaction was answered already. */
export async function notice(interaction: RepliableInteraction, text: string): Promise<void> {
  for (const part of textMessages(text)) {
    const body = { ...part, flags: MessageFlags.Ephemeral, allowedMentions: { parse: [] } } as const;
    if (interaction.replied || interaction.deferred) await interaction.followUp(body);
    else await interaction.reply(body);
  }
}

/** Retries for ten minutes: an answer to a command is useful after an outage, too. */
export const ANSWER_PAUSES_MS = doublingPauses(1_000, 30_000, 600_000);

export const notAvailable = () => t('That command is not available here at the moment.');
