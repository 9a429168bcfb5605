import { type Logger, splitMessage, type Turn } from '@cinnabar/sdk';
import { type Client, PermissionFlagsBits, type SendableChannels, type Webhook, WebhookType } from 'discord.js';
import { LRUCache } from 'lru-cache';
import { withDiscordBackoff } from '../../history/discord-backoff.js';
import type { Backoff } from '../sending/sender.js';
import type { Invoked } from './invoke.js';

const REMEMBERED = 500;
const PART_LIMIT = 1_800;
/** A long result would push the conversation off the screen. */
const MAX_PARTS = 3;
const WITHHELD = 'Not shown here: it was read where not everybody in this channel may read.';

/** Shows calls and their results in the channel, under the name of the tool. */
export interface ToolOutput {
  /** Never rejects: the answer is worth more than its footnotes. Resolves with a note when it could not be shown. */
  show(turn: Pick<Turn, 'channel'>, invoked: readonly Invoked[], backoff: Backoff): Promise<string | undefined>;
}

export function createToolOutput(client: Client, log: Logger): ToolOutput {
  const known = new LRUCache<string, Promise<Webhook | undefined>>({ max: REMEMBERED });

  const webhookOf = (channelId: string, backoff: Backoff) => {
    const found = known.get(channelId) ?? findWebhook(client, channelId, backoff);
    known.set(channelId, found);
    found.catch(() => known.delete(channelId));
    return found;
  };

  return {
    async show({ channel }, invoked, backoff) {
      const home = channel.isThread() ? channel.parentId : channel.id;
      if (home === null || !mayManageWebhooks(channel)) {
        return 'Tool output was not shown: I am missing the permission Manage Webhooks here.';
      }
      try {
        const webhook = await webhookOf(home, backoff);
        if (webhook === undefined) return 'Tool output was not shown: this kind of channel has no webhooks.';
        const place = channel.isThread() ? { threadId: channel.id } : {};
        for (const one of invoked) {
          for (const content of splitMessage(textOf(one), PART_LIMIT).slice(0, MAX_PARTS)) {
            await webhook.send({
              content,
              username: usernameOf(one.use.name),
              allowedMentions: { parse: [] },
              ...place,
            });
          }
        }
        return undefined;
      } catch (error) {
        known.delete(home);
        log.warn('tool output was not shown', { channelId: channel.id, error });
        return 'Tool output was not shown: Discord did not take it.';
      }
    },
  };
}

function mayManageWebhooks(channel: SendableChannels): boolean {
  const me = channel.isDMBased() ? null : channel.guild.members.me;
  if (channel.isDMBased() || me === null) return false;
  const home = channel.isThread() ? channel.parent : channel;
  return home?.permissionsFor(me).has(PermissionFlagsBits.ManageWebhooks) === true;
}

/** The bot's own webhook of a channel, made when there is none. */
async function findWebhook(client: Client, channelId: string, backoff: Backoff): Promise<Webhook | undefined> {
  const channel = client.channels.cache.get(channelId);
  if (channel === undefined || !('fetchWebhooks' in channel) || !('createWebhook' in channel)) return undefined;
  const there = await withDiscordBackoff(() => channel.fetchWebhooks(), backoff);
  const own = there.find(
    ({ applicationId, owner, type, token }) =>
      type === WebhookType.Incoming &&
      token !== null &&
      (applicationId === client.application?.id || owner?.id === client.user?.id),
  );
  return (
    own ?? (await channel.createWebhook({ name: client.user?.displayName ?? 'tools', reason: 'shows what tools say' }))
  );
}

/** What was read is shown only where everybody may read it: that is what has something to say in `done`. */
function textOf({ use, result, outcome, done }: Invoked): string {
  const { content } = result;
  const text = typeof content === 'string' ? content : JSON.stringify(content.map(({ type }) => type));
  const said = outcome === 'done' && done === undefined ? WITHHELD : text;
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
