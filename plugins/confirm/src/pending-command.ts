import type { CommandContext } from '@cinnabar/sdk';
import type { Expiry } from './expiry.js';
import type { Board, WaitingCard } from './pending-cards.js';
import { inert } from './render.js';

/** `!confirm pending`: the caller's own open requests, with links. */
export async function listPending({ board, expiry }: { board: Board; expiry: Expiry }, ctx: CommandContext) {
  await expiry.expireOverdue(ctx.user.id);
  const cards = [...(board.of(ctx.user.id) ?? [])];
  if (cards.length === 0) return ctx.reply('Nothing is waiting for your confirmation.');
  return ctx.reply(['Waiting for your 👍 or 👎:', ...cards.map(line)].join('\n'));
}

function line({ sentence, guildId, channelId, messageId, expiresAt }: WaitingCard): string {
  const link = `https://discord.com/channels/${guildId ?? '@me'}/${channelId}/${messageId}`;
  return `• ${inert(sentence)}: ${link} (until <t:${Math.floor(expiresAt / 1000)}:T>)`;
}
