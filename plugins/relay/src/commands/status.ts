import {
  type Access,
  type CommandContext,
  isQuiet,
  type Logger,
  plainText,
  type Subcommand,
  subcommand,
  UserError,
  visible,
  z,
} from '@cinnabar/sdk';
import { AttachmentBuilder, type Message } from 'discord.js';
import { grantOf, guildIdentity, placesOf } from '../agents/grants.js';
import { type MuteParts, muteIn } from '../agents/permissions.js';
import { byKey, chooseAgent } from '../agents/roster.js';
import type { Budget } from '../budget.js';
import type { ErrorLog } from '../error-log.js';
import { messageEvent } from '../events/message-event.js';
import type { Agents } from '../letta/agents.js';
import type { Breakers } from '../queue/breakers.js';
import { rulesIn } from '../settings.js';
import type { EventKind, QueueStatus, RelayEvent } from '../types.js';
import { droppedText } from './config.js';
import { ADMIN, type Desk, guildOf } from './desk.js';

export interface StatusDesk extends Desk {
  readonly budget: Budget;
  readonly breakers: Breakers;
  readonly errors: ErrorLog;
  /** What names an agent in the whole world. */
  readonly agentWorldName: (agentId: string) => Promise<string>;
  readonly responderIn: (guildId: string, channelId: string) => Promise<string>;
  readonly access: MuteParts['access'];
  readonly policies: MuteParts['policies'];
  readonly agents: () => Promise<Pick<Agents, 'find'>>;
}

const SHOWN = 10;

/** `!relay status`, `queue` and `errors`. */
export function statusCommands(desk: StatusDesk): readonly Subcommand[] {
  const { queue, errors } = desk;
  return [
    subcommand({
      name: 'status',
      description: 'How the agents of this server are doing',
      access: ADMIN,
      async run(ctx) {
        return ctx.reply((await statusLines(desk, guildOf(ctx), ctx.channel.id)).join('\n'));
      },
    }),
    subcommand({
      name: 'queue',
      description: 'What waits for the agents; `clear` drops it',
      access: ADMIN,
      options: { action: z.enum(['clear']).optional().describe('`clear` drops what waits') },
      examples: ['relay queue', 'relay queue clear'],
      async run(ctx, { action }) {
        const guildId = guildOf(ctx);
        if (action === 'clear') return ctx.reply(droppedText(await queue.clear(guildId)));
        return ctx.reply(queueLines(await queue.status(guildId)).join('\n'));
      },
    }),
    subcommand({
      name: 'errors',
      description: 'What went wrong lately',
      access: ADMIN,
      async run(ctx) {
        const recent = await errors.recent(guildOf(ctx));
        if (recent.length === 0) return ctx.reply('Nothing went wrong.');
        const lines = recent
          .slice(0, SHOWN)
          .map(
            ({ at, channelId, agent, sentence, kind }) =>
              `• ${stamp(at, 'f')} <#${channelId}> \`${agent}\`: ${inert(sentence)} (${inert(kind)})`,
          );
        const more = recent.length > SHOWN ? [`… and ${recent.length - SHOWN} before. The log has the details.`] : [];
        return ctx.reply([...lines, ...more].join('\n'));
      },
    }),
  ];
}

async function statusLines(desk: StatusDesk, guildId: string, channelId: string): Promise<readonly string[]> {
  const { rosters, settings, budget, breakers, queue, clock, responderIn, agentWorldName } = desk;
  const roster = rosters.of(guildId);
  const rules = await rulesIn(settings, guildId);
  const day = await budget.today(guildId);
  const responder = await responderIn(guildId, channelId);
  const agents = Object.entries(roster?.agents ?? {}).map(async ([key, { name, agentId, channels }]) => {
    const { state } = breakers.for(await agentWorldName(agentId));
    const home = (await grantOf(desk.identities, guildIdentity(guildId, key), guildId))?.channelId;
    const mute = await muteIn(guildId, { key, name }, channels[0] ?? home ?? channelId, desk);
    const isGone = await isGoneAtServer(agentId, desk);
    return [
      `• \`${name}\`${key === roster?.defaultAgent ? ' (the default)' : ''} ${isGone ? `is gone: the Letta server knows no agent \`${agentId}\`. \`relay agent\` lets another one in.` : state}`,
      ...(mute === undefined ? [] : [`  ⚠️ It cannot post: ${mute.text}. ${mute.todo}`]),
    ].join('\n');
  });
  const limit = (most: number) => (most === 0 ? '' : ` of ${most}`);
  return [
    `The agents of this server are switched ${roster?.enabled === true ? 'on' : 'off (`relay enable`)'}${roster?.paused === true ? ', and paused (`relay resume`)' : ''}.`,
    responder === 'relay'
      ? 'They answer in this channel.'
      : `\`${responder}\` answers in this channel; \`ai use relay\` lets them answer.`,
    ...(agents.length === 0 ? ['There is no agent yet: `relay agent <id>`.'] : await Promise.all(agents)),
    `Today: ${day.turns}${limit(rules.dayTurns)} prompts, ${day.tokens}${limit(rules.dayTokens)} tokens, ${day.wakes} of ${rules.wakesPerDay} wake-ups.`,
    ...(isQuiet(clock.now(), rules) ? [`These are quiet hours (${rules.quietHours}, ${rules.timeZone}).`] : []),
    ...queueLines(await queue.status(guildId)),
  ];
}

/** A server that does not answer says nothing of that. */
async function isGoneAtServer(agentId: string, { agents }: StatusDesk): Promise<boolean> {
  try {
    return (await (await agents()).find(agentId)) === undefined;
  } catch {
    return false;
  }
}

function queueLines({ waiting, sending, dropped }: QueueStatus): readonly string[] {
  return [
    ...sending.map(({ channelId, since }) => `• <#${channelId}>: an agent is at work since ${stamp(since, 'R')}`),
    ...waiting.map(
      ({ channelId, events, oldestAt }) =>
        `• <#${channelId}>: ${events} waiting, the oldest since ${stamp(oldestAt, 'R')}`,
    ),
    ...(waiting.length + sending.length === 0 ? ['Nothing waits.'] : []),
    ...(dropped > 0
      ? [`${dropped} ${dropped === 1 ? 'was' : 'were'} given up since the bot started, because too many waited.`]
      : []),
  ];
}

function stamp(at: number, style: 'f' | 'R'): string {
  return `<t:${Math.floor(at / 1000)}:${style}>`;
}

function inert(text: string): string {
  return plainText(visible(text));
}

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
