import { isRefusal, noticeLine, type SendOnceOptions } from '@cinnabar/sdk';
import type { Client, SendableChannels } from 'discord.js';
import { say } from './say.js';

/** The answer to a call, and whether it is for its requester alone. */
export interface Answer {
  readonly text: string;
  readonly audience?: 'requester' | undefined;
  /** The program's own words, not what a tool returned: for members, and for no model, which has the outcome of its call. */
  readonly notice?: true | undefined;
}

interface Parts extends SendOnceOptions {
  readonly client: Client;
}

const GIVEN = '✓ Done. What it returned is in your direct messages.';
const NOT_TAKEN =
  '✓ Done, but what it returned is not for this channel, and you accept no direct messages from me. Allow them and ask again, or choose to have it posted here.';

/** Tells a member what became of their call, with their name, as a reply to its card where it had one: where they asked, or in a direct message what is for them alone. */
export async function give(
  { client, ...options }: Parts,
  channel: SendableChannels,
  { callId, userId }: { readonly callId: string; readonly userId: string },
  { text, audience, notice }: Answer,
  replyTo?: string,
): Promise<void> {
  if (channel.isDMBased()) return say(channel, callId, text, { ...options, replyTo, notice });
  // Several members may have asked for the same thing; Discord's reply names the bot, whose card it is.
  const foot = `\n${noticeLine(`-# for <@${userId}>`)}`;
  const post = (words: string) => say(channel, callId, words, { ...options, replyTo, foot, notice });
  if (audience === undefined) return post(text);
  const taken = await toPerson().then(
    () => true,
    (error: unknown) => {
      if (isRefusal(error)) return false;
      throw error;
    },
  );
  await post(taken ? GIVEN : NOT_TAKEN);

  async function toPerson(): Promise<void> {
    const direct = await client.users.createDM(userId);
    // A key of its own: Discord takes a nonce for the same message in whatever channel.
    await say(direct, `${callId}:alone`, text, options);
  }
}
