import { DiscordAPIError } from 'discord.js';
import { UserError } from '../errors.js';
import { t, translated } from '../text/language.js';

/** Discord's JSON error codes (https://discord.com/developers/docs/topics/opcodes-and-status-codes#json) as sentences. */
const SENTENCES: ReadonlyMap<number | string, string> = new Map([
  [10003, 'There is no channel with that id that I can reach.'],
  [10004, 'There is no server with that id that I can reach.'],
  [10007, 'There is no member with that id here.'],
  [10008, 'There is no message with that id there.'],
  [10009, 'That role has no permissions of its own in this channel.'],
  [10011, 'There is no role with that id here.'],
  [10013, 'There is no user with that id.'],
  [10014, 'Discord does not know that emoji, or I may not use it.'],
  [10015, 'There is no webhook with that id that I can reach.'],
  [20016, 'The channel is in slow mode; please wait a moment.'],
  [20028, 'The channel is being written to too often; please wait a moment.'],
  [30003, 'The channel has as many pinned messages as Discord allows.'],
  [30005, 'The server has as many roles as Discord allows (250).'],
  [30007, 'The channel has as many webhooks as Discord allows (15).'],
  [30010, 'The message has as many different reactions as Discord allows (20).'],
  [30013, 'The server has as many channels as Discord allows (500).'],
  [40005, 'That is more than Discord takes.'],
  [40067, 'This forum requires a tag on every post.'],
  [50001, 'I have no access to that.'],
  [50003, 'That cannot be done in a direct message.'],
  [50005, 'Discord lets nobody edit a message of somebody else.'],
  [50006, 'Discord does not take an empty message.'],
  [50007, 'This user does not accept messages from me.'],
  [50008, 'There are no messages in a channel of this kind.'],
  [50013, 'I lack a permission for that.'],
  [50021, 'That cannot be done with a message of the system.'],
  [50024, 'That cannot be done in a channel of this kind.'],
  [50027, 'The webhook token is not right.'],
  [50028, 'That role cannot be changed: it belongs to a bot, or to everyone.'],
  [50083, 'The thread is archived: open it first.'],
  [90001, 'The author of this message has blocked me, so I cannot react.'],
  [160002, 'I cannot reply without the permission to read the message history.'],
  [160004, 'A thread has already been started from this message.'],
  [160005, 'The thread is locked.'],
  [200000, "The server's AutoMod blocked this message."],
]);

const INVALID_FORM = 50035;
const UNAUTHORIZED = 401;

/**
 * Runs `work`; a refusal by Discord becomes a `UserError` with a sentence for members, other errors pass.
 * @example await withRefusalSentences(() => member.roles.add(role));
 */
export async function withRefusalSentences<T>(work: () => T | Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const sentence = refusalSentence(error);
    if (sentence === undefined) throw error;
    throw new UserError(sentence, { cause: error });
  }
}

/** The sentence for members about a refusal by Discord; `undefined` for any other error. */
export function refusalSentence(error: unknown): string | undefined {
  if (!(error instanceof DiscordAPIError) || (error.status === UNAUTHORIZED && error.code === 0)) return undefined;
  if (error.code === INVALID_FORM)
    return t('Discord does not take that: {complaints}', { complaints: complaints(error) });
  const known = SENTENCES.get(error.code);
  if (known !== undefined) return translated(known);
  if (error.status === 429) return t('Discord asks to wait a moment before doing this again.');
  return error.status < 500 ? t('Discord refused that: {reason}', { reason: error.message.slice(0, 200) }) : undefined;
}

/** "name: Must be 100 or fewer in length." for each complaint in Discord's tree. */
function complaints({ rawError }: DiscordAPIError): string {
  const found: string[] = [];
  const walk = (node: unknown, path: readonly string[]): void => {
    if (typeof node !== 'object' || node === null) return;
    for (const [key, value] of Object.entries(node)) {
      if (key !== '_errors') walk(value, [...path, key]);
      else if (Array.isArray(value)) found.push(...value.map((one: unknown) => `${path.join('.')}: ${messageIn(one)}`));
    }
  };
  walk('errors' in rawError ? rawError.errors : undefined, []);
  return found.length === 0 ? t('a part of it is not allowed.') : found.slice(0, 5).join('; ');
}

function messageIn(complaint: unknown): string {
  const isTold = typeof complaint === 'object' && complaint !== null && 'message' in complaint;
  return isTold ? String(complaint.message).slice(0, 200) : t('not allowed');
}
