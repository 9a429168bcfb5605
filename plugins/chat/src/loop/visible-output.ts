import {
  forgetOwnWebhook,
  mayManageWebhooks,
  ownWebhook,
  splitMessage,
  type Turn,
  t,
  webhookPlace,
} from '@cinnabar/sdk';
import { MessageFlags } from 'discord.js';
import { type BackoffOptions, withDiscordBackoff } from '../history/access.js';
import type { Invoked } from './tool-calls.js';

const PART_LIMIT = 1_800;
/** A long result would push the conversation off the screen. */
const MAX_PARTS = 3;

/**
 * Shows calls and their results in the channel, under the name of the tool. Never rejects: the answer is worth more than its footnotes.
 * @returns a note when they could not be shown
 */
export async function showToolOutput(
  { channel }: Pick<Turn, 'channel'>,
  invoked: readonly Invoked[],
  backoff: BackoffOptions,
): Promise<string | undefined> {
  if (!mayManageWebhooks(channel)) {
    return t('Tool output was not shown: I am missing the permission Manage Webhooks here.');
  }
  try {
    const webhook = await withDiscordBackoff(() => ownWebhook(channel), backoff);
    if (webhook === undefined) return t('Tool output was not shown: this kind of channel has no webhooks.');
    for (const one of invoked) {
      for (const content of splitMessage(textOf(one), PART_LIMIT).slice(0, MAX_PARTS)) {
        await webhook.send({
          content,
          username: usernameOf(one.use.name),
          allowedMentions: { parse: [] },
          // What tells it from what the bot says under another name.
          flags: MessageFlags.SuppressNotifications,
          ...webhookPlace(channel),
        });
      }
    }
    return undefined;
  } catch (error) {
    forgetOwnWebhook(channel);
    backoff.log.warn('tool output was not shown', { channelId: channel.id, error });
    return t('Tool output was not shown: Discord did not take it.');
  }
}

/** A result is shown only where every member of the channel may read it: then it has a text in `done`. */
function textOf({ use, result, outcome, done }: Invoked): string {
  const { content } = result;
  const text = typeof content === 'string' ? content : JSON.stringify(content.map(({ type }) => type));
  const said =
    outcome === 'done' && done === undefined
      ? t('Not shown here: it was read where not everybody in this channel may read.')
      : text;
  return `\`\`\`\n${inert(JSON.stringify(use.input))}\n→ ${inert(said)}\n\`\`\``;
}

/** What a tool says must not end the block that it stands in. */
function inert(text: string): string {
  return text.replaceAll('```', '`\u200B`\u200B`');
}

/** Discord refuses webhooks that pass for its own. */
function usernameOf(tool: string): string {
  return /discord|clyde/i.test(tool) ? 'tool' : tool;
}
