import type { CommandContext, ReplyBody } from '../commands.js';
import { UserError } from '../errors.js';
import { asNotice } from './notices.js';

/**
 * Answers a command with a notice so that nobody else sees it: ephemeral for a slash command, else by direct message.
 * @param slash the command that answers in the channel, to be named where direct messages are closed
 * @throws UserError when the member takes no direct messages
 */
export async function replyPrivately(
  ctx: CommandContext,
  { content = '', files = [] }: Pick<ReplyBody, 'content' | 'files'>,
  slash: string = ctx.name,
): Promise<unknown> {
  if (ctx.source === 'slash' || ctx.channel.isDMBased()) return ctx.reply({ content, files, ephemeral: true });
  try {
    await ctx.user.send({ content: asNotice(content), files });
  } catch (cause) {
    throw new UserError(`I cannot write you a direct message. Allow them for this server, or use \`/${slash}\`.`, {
      cause,
    });
  }
  return ctx.reply('I have sent it to you in a direct message.');
}

/** Well below what Discord takes as one file. */
const FILE_BYTES = 8_000_000;

/** A text as a file of a message: its beginning where it is larger than Discord takes. */
export function textFile(name: string, text: string): { readonly name: string; readonly attachment: Buffer } {
  return { name, attachment: Buffer.from(text).subarray(0, FILE_BYTES) };
}
