import {
  type Access,
  type CommandContext,
  type Logger,
  type Subcommand,
  subcommand,
  UserError,
  z,
} from '@cinnabar/sdk';
import { AttachmentBuilder, type Message } from 'discord.js';
import { byKey, chooseAgent } from '../agents/choose.js';
import { placesOf } from '../agents/places.js';
import { messageEvent } from '../events/message-event.js';
import { rulesIn } from '../settings.js';
import type { EventKind, RelayEvent } from '../types.js';
import { ADMIN, type Desk, guildOf } from './desk.js';

export interface ContextDesk extends Desk {
  readonly access: Pick<Access, 'mayEnter'>;
  readonly log: Logger;
  /** The prompt exactly as the event's agent would get it. */
  readonly promptFor: (event: RelayEvent) => Promise<string>;
}

const LINK = /^<?https?:\/\/(?:\w+\.)?discord(?:app)?\.com\/channels\/(\d+)\/(\d+)\/(\d+)>?$/u;

/** `!relay context`: what an agent is told of a message. */
export function contextCommand(desk: ContextDesk): Subcommand {
  return subcommand({
    name: 'context',
    description: 'Show the exact prompt that an agent would get for a message',
    access: ADMIN,
    ephemeral: true,
    options: { message: z.string().describe('Link to the message') },
    async run(ctx, options) {
      const message = await messageAt(options.message, ctx, desk);
      const roster = desk.rosters.of(guildOf(ctx));
      const chosen =
        roster === undefined
          ? undefined
          : (chooseAgent(roster, placesOf(message.channel), message.content) ?? byKey(roster, roster.defaultAgent));
      if (chosen === undefined)
        throw new UserError('There is no agent here yet. Let one in with `relay agent <id> [name]`.');
      const { reply_thread_depth: depth } = await rulesIn(desk.settings, message.guildId);
      const event = await messageEvent(message, { kind: kindOf(message), agent: chosen.key, depth, log: desk.log });
      const prompt = await desk.promptFor(event);
      return ctx.reply({
        content: `This is what \`${chosen.agent.name}\` would be told of ${message.url}:`,
        files: [new AttachmentBuilder(Buffer.from(prompt), { name: 'prompt.txt' })],
      });
    },
  });
}

/** @throws UserError also when the admin could not read it themselves */
async function messageAt(link: string, ctx: CommandContext, { access, client }: ContextDesk): Promise<Message> {
  const [, guildId, channelId, messageId] = LINK.exec(link.trim()) ?? [];
  if (guildId === undefined || channelId === undefined || messageId === undefined) {
    throw new UserError('Give the link of a message: "Copy Message Link" in its menu.');
  }
  if (guildId !== ctx.guild?.id) throw new UserError('That message is not in this server.');
  const channel = await client.channels.fetch(channelId).catch(() => null);
  const mayRead = await access.mayEnter(ctx.actor, { guildId, channelId }, ['ReadMessageHistory']);
  if (channel === null || channel.isDMBased() || !channel.isTextBased() || !mayRead) {
    throw new UserError('That channel is not there, or you may not read it.');
  }
  const message = await channel.messages.fetch(messageId).catch(() => undefined);
  if (message === undefined) throw new UserError('That message is not there, or I may not read it.');
  return message;
}

function kindOf({ mentions, client, channel }: Message): EventKind {
  if (mentions.repliedUser?.id === client.user.id) return 'reply';
  if (mentions.users.has(client.user.id)) return 'mention';
  return channel.isThread() && channel.ownerId === client.user.id ? 'thread' : 'message';
}
