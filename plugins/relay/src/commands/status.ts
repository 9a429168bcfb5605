import { plainText, type Subcommand, subcommand, visible, z } from '@cinnabar/sdk';
import { grantOf, guildIdentity } from '../agents/identity.js';
import { type MuteParts, muteIn } from '../agents/mute.js';
import type { Agents } from '../letta/types.js';
import type { Budget } from '../presence/budget.js';
import { isQuiet } from '../presence/local-time.js';
import type { Breakers } from '../resilience/breakers.js';
import type { ErrorLog } from '../resilience/error-log.js';
import { rulesIn } from '../settings.js';
import type { QueueStatus } from '../types.js';
import { ADMIN, type Desk, guildOf } from './desk.js';
import { droppedText } from './switches.js';

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
      `• \`${name}\` ${isGone ? `is gone: the Letta server knows no agent \`${agentId}\`. \`relay agent\` lets another one in.` : state}`,
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
