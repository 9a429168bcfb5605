import {
  type Access,
  type AccessPolicy,
  type Actor,
  isForOperators,
  type Logger,
  operatorSentenceOf,
  type Random,
  sentenceOf,
  withReference,
} from '@cinnabar/sdk';

/** What to tell a person about something that was thrown, and what the error boundary should log and count. */
export interface Explanation {
  readonly sentence: string;
  /** `undefined` when it was no failure but an answer in plain words. */
  readonly failure: Error | undefined;
}

export interface Failed {
  /** Names the thing for the log: `command roll`. */
  readonly what: string;
  readonly actor: Actor;
  readonly error: unknown;
  /** Of the plugin whose thing it is. */
  readonly log: Logger;
  /** Whether the answer is read by those who run the bot, and by no one else unless they chose the place. */
  readonly forOperator: boolean;
}

/**
 * The one place that decides what is read of an error: members read what its audience admits, with a reference to the log where the reason
 * is not for them; those who run the bot read the reason.
 */
export function explain({ what, actor, error, log, forOperator }: Failed, random: Random): Explanation {
  const reason = operatorSentenceOf(error);
  if (forOperator && reason !== undefined) return { sentence: reason, failure: undefined };
  const isWhole = !isForOperators(error);
  const reference = isWhole ? '' : random.id();
  const sentence = sentenceOf(error, reference);
  if (sentence !== undefined && isWhole) return { sentence, failure: undefined };
  const because = reason ?? (error instanceof Error ? error.message : String(error));
  const entry = `${what} failed (reference ${reference}, user ${actor.userId}, channel ${actor.channelId}): ${because}`;
  // What has a sentence of its own is no fault of the plugin, for which its listeners would have to pause.
  if (sentence !== undefined) {
    log.warn(entry, { error, guildId: actor.guildId });
    return { sentence, failure: undefined };
  }
  return {
    sentence: withReference('Something went wrong while doing that.', reference),
    failure: new Error(entry, { cause: error }),
  };
}

/** Whether an answer goes to those who run the bot: their own commands, wherever they use them, and their direct messages. */
export async function isReadByOperator(
  access: Pick<Access, 'tierOf'>,
  actor: Actor,
  policy: AccessPolicy | undefined,
): Promise<boolean> {
  if (policy?.tier === 'botOwner') return true;
  return actor.guildId === null && (await access.tierOf(actor)) === 'botOwner';
}
