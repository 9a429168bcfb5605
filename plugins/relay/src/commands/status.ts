import {
  type CheckResult,
  type CircuitBreaker,
  type CommandContext,
  type Diagnosis,
  isQuiet,
  type Subcommand,
  subcommand,
  t,
  UserError,
  z,
} from '@cinnabar/sdk';
import { AttachmentBuilder, type Message } from 'discord.js';
import { grantOf, guildIdentity, PLUGIN, placesOf, postingProblem } from '../agents/permissions.js';
import { byKey, chooseAgent, modeOf, type Roster, targetOf } from '../agents/roster.js';
import type { Relay } from '../context.js';
import { promptFor } from '../delivery/deliver.js';
import type { EventKind, RelayEvent } from '../events/event.js';
import { messageEvent } from '../events/message-event.js';
import type { RelayQueue } from '../queue/queue.js';
import { rulesIn } from '../settings.js';
import { droppedText } from './config.js';
import { ADMIN, guildOf, inert, timestamp } from './options.js';

const SHOWN = 10;

/** The commands `!relay status`, `queue` and `errors`. */
export function statusCommands(relay: Relay): readonly Subcommand[] {
  const { queue, errors } = relay;
  return [
    subcommand({
      name: 'status',
      reads: true,
      description: 'How the agents of this server are doing',
      access: ADMIN,
      async run(ctx) {
        return ctx.reply((await statusLines(relay, guildOf(ctx), ctx.channel.id)).join('\n'));
      },
    }),
    subcommand({
      name: 'queue',
      description: 'Messages that wait for the agents; `clear` drops them',
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
        if (recent.length === 0) return ctx.reply(t('Nothing went wrong.'));
        const lines = recent
          .slice(0, SHOWN)
          .map(
            ({ at, channelId, agent, sentence, kind }) =>
              `• ${timestamp(at, 'f')} <#${channelId}> \`${agent}\`: ${inert(sentence)} (${inert(kind)})`,
          );
        const more =
          recent.length > SHOWN
            ? [t('… and {count} before. The log has the details.', { count: recent.length - SHOWN })]
            : [];
        return ctx.reply([...lines, ...more].join('\n'));
      },
    }),
  ];
}

async function statusLines(relay: Relay, guildId: string, channelId: string): Promise<readonly string[]> {
  const { rosters, settings, budget, breakers, queue, clock, letta, frontDoor } = relay;
  const roster = rosters.of(guildId);
  const rules = await rulesIn(settings, guildId);
  const day = await budget.today(guildId);
  const responder = (await frontDoor?.responderIn(guildId, channelId)) ?? 'nobody';
  const agents = Object.entries(roster?.agents ?? {}).map(async ([key, { name, agentId, channels }]) => {
    const state = stateOf(breakers.for(await letta.globalName(agentId)), clock.now());
    const home = (await grantOf(relay.identities, guildIdentity(guildId, key), guildId))?.channelId;
    const problem = await postingProblem(guildId, { key, name }, channels[0] ?? home ?? channelId, relay);
    const isGone = await isGoneAtServer(agentId, relay);
    const values = { name, isDefault: key === roster?.defaultAgent ? 'yes' : 'no' };
    return [
      isGone
        ? t(
            '• `{name}`{isDefault, select, yes { (the default)} other {}} is gone: the Letta server knows no agent `{agentId}`. `relay agent` lets another one in.',
            { ...values, agentId },
          )
        : t('• `{name}`{isDefault, select, yes { (the default)} other {}} {state}', { ...values, state }),
      ...(problem === undefined
        ? []
        : [t('  ⚠️ It cannot post: {text}. {todo}', { text: problem.text, todo: problem.todo })]),
    ].join('\n');
  });
  return [
    t(
      'The agents of this server are switched {enabled, select, yes {on} other {off (`relay enable`)}}{paused, select, yes {, and paused (`relay resume`)} other {}}.',
      { enabled: roster?.enabled === true ? 'yes' : 'no', paused: roster?.paused === true ? 'yes' : 'no' },
    ),
    responder === PLUGIN
      ? t('They answer in this channel.')
      : t('`{responder}` answers in this channel; `ai use relay` lets them answer.', { responder }),
    ...(agents.length === 0 ? [t('There is no agent yet: `relay agent <id>`.')] : await Promise.all(agents)),
    t(
      'Today: {turns}{dayTurns, select, 0 {} other { of {dayTurns}}} prompts, {tokens}{dayTokens, select, 0 {} other { of {dayTokens}}} tokens, {wakes} of {wakesPerDay} wake-ups.',
      {
        turns: day.turns,
        dayTurns: String(rules.dayTurns),
        tokens: day.tokens,
        dayTokens: String(rules.dayTokens),
        wakes: day.wakes,
        wakesPerDay: rules.wakesPerDay,
      },
    ),
    ...(isQuiet(clock.now(), rules)
      ? [
          t('These are quiet hours ({quietHours}, {timeZone}).', {
            quietHours: rules.quietHours,
            timeZone: rules.timeZone,
          }),
        ]
      : []),
    ...queueLines(await queue.status(guildId)),
  ];
}

export function stateOf({ state, admitsAt }: CircuitBreaker, now: number): string {
  if (state === 'closed') return t('answers');
  if (state === 'half-open') return t('is being tried again');
  return admitsAt > now
    ? t('did not answer, is tried again in {seconds} s', { seconds: Math.ceil((admitsAt - now) / 1000) })
    : t('did not answer, is tried with the next message');
}

/** `false` also if the server does not answer. */
export async function isGoneAtServer(agentId: string, { letta }: Relay): Promise<boolean> {
  try {
    return (await (await letta.agents()).find(agentId)) === undefined;
  } catch {
    return false;
  }
}

function queueLines({ waiting, sending, dropped }: Awaited<ReturnType<RelayQueue['status']>>): readonly string[] {
  return [
    ...sending.map(({ channelId, since }) =>
      t('• <#{channelId}>: an agent is at work since {since}', { channelId, since: timestamp(since, 'R') }),
    ),
    ...waiting.map(({ channelId, events, oldestAt }) =>
      t('• <#{channelId}>: {events} waiting, the oldest since {since}', {
        channelId,
        events,
        since: timestamp(oldestAt, 'R'),
      }),
    ),
    ...(waiting.length + sending.length === 0 ? [t('Nothing waits.')] : []),
    ...(dropped > 0
      ? [
          t('{count, plural, one {# was} other {# were}} given up since the bot started, because too many waited.', {
            count: dropped,
          }),
        ]
      : []),
  ];
}

const LINK = /^<?https?:\/\/(?:\w+\.)?discord(?:app)?\.com\/channels\/(\d+)\/(\d+)\/(\d+)>?$/u;

/** The command `!relay context`: shows the prompt for a message. */
export function contextCommand(relay: Relay): Subcommand {
  return subcommand({
    name: 'context',
    description: 'Show the exact prompt that an agent would get for a message',
    access: ADMIN,
    ephemeral: true,
    options: { message: z.string().describe('Link to the message') },
    async run(ctx, options) {
      const message = await messageAt(options.message, ctx, relay);
      const roster = relay.rosters.of(guildOf(ctx));
      const chosen =
        roster === undefined
          ? undefined
          : (chooseAgent(roster, placesOf(message.channel), message.content) ?? byKey(roster, roster.defaultAgent));
      if (chosen === undefined)
        throw new UserError(t('There is no agent here yet. Let one in with `relay agent <id> [name]`.'));
      const { reply_thread_depth: depth } = await rulesIn(relay.settings, message.guildId);
      const event = await messageEvent(message, { kind: kindOf(message), agent: chosen.key, depth, log: relay.log });
      const prompt = await promptOf(event, relay);
      return ctx.reply({
        content: t('This is the prompt that `{agent}` would get about {url}:', {
          agent: chosen.agent.name,
          url: message.url,
        }),
        files: [new AttachmentBuilder(Buffer.from(prompt), { name: 'prompt.txt' })],
      });
    },
  });
}

/** The prompt exactly as the event's agent would get it now. */
async function promptOf(event: RelayEvent, relay: Relay): Promise<string> {
  const target = await targetOf(event, relay);
  if (target === undefined) throw new UserError(t('The agents of this server are switched off: `relay enable`.'));
  const rules = await rulesIn(relay.settings, event.guildId, event.userId);
  return promptFor([event], target, rules, await relay.letta.agents());
}

/** @throws UserError without such a message, or if the admin cannot read it */
async function messageAt(link: string, ctx: CommandContext, { access, client }: Relay): Promise<Message> {
  const [, guildId, channelId, messageId] = LINK.exec(link.trim()) ?? [];
  if (guildId === undefined || channelId === undefined || messageId === undefined) {
    throw new UserError(t('Give the link of a message: "Copy Message Link" in its menu.'));
  }
  if (guildId !== ctx.guild?.id) throw new UserError(t('That message is not in this server.'));
  const channel = await client.channels.fetch(channelId).catch(() => null);
  const mayRead = await access.mayEnter(ctx.actor, { guildId, channelId }, ['ReadMessageHistory']);
  if (channel === null || channel.isDMBased() || !channel.isTextBased() || !mayRead) {
    throw new UserError(t('That channel is not there, or you may not read it.'));
  }
  const message = await channel.messages.fetch(messageId).catch(() => undefined);
  if (message === undefined) throw new UserError(t('That message is not there, or I may not read it.'));
  return message;
}

function kindOf({ mentions, client, channel }: Message): EventKind {
  if (mentions.repliedUser?.id === client.user.id) return 'reply';
  if (mentions.users.has(client.user.id)) return 'mention';
  return channel.isThread() && channel.ownerId === client.user.id ? 'thread' : 'message';
}

/** Checks what else is needed, when the server has agents, for messages to the bot to reach one of them. */
export function createDiagnosis(relay: Relay): Diagnosis {
  const { budget, client, rosters } = relay;
  return async ({ actor: { guildId, channelId }, kind, name }) => {
    const channel = client.channels.cache.get(channelId);
    const roster = guildId === null ? undefined : rosters.of(guildId);
    if (kind !== 'plugin' || name !== PLUGIN || roster === undefined || channel === undefined) return [];
    const spent = await budget.refusal(guildId);
    return [
      ...ofRoster(roster, placesOf(channel)),
      ...(spent === undefined
        ? []
        : [
            {
              ok: false,
              text: spent.replace(/\.$/, ''),
              remedy: t(
                'Wait until tomorrow, or have an admin lift it with `set relay dayTurns 0` and `set relay dayTokens 0`.',
              ),
            },
          ]),
      ...(await ofServer(roster, relay)),
    ];
  };
}

function ofRoster(roster: Roster, places: readonly string[]): readonly CheckResult[] {
  if (modeOf(roster, places) === 'off')
    return [
      {
        ok: false,
        text: t('nothing reaches the agents from this channel: its mode is `off`'),
        remedy: t('An admin changes that with `relay mode mention`.'),
      },
    ];
  return roster.paused
    ? [
        {
          ok: false,
          text: t('the agents of this server are paused'),
          remedy: t('An admin can resume them with `relay resume`.'),
        },
      ]
    : [];
}

/** A failed check if the circuit breakers of all agents of the server are open, which keeps messages in the queue. */
async function ofServer({ agents }: Roster, { breakers, clock, letta }: Relay): Promise<readonly CheckResult[]> {
  const waits = await Promise.all(
    Object.values(agents).map(
      async ({ agentId }) => breakers.for(await letta.globalName(agentId)).admitsAt - clock.now(),
    ),
  );
  if (waits.length === 0 || waits.some((waitMs) => waitMs <= 0)) return [];
  const text = t('no agent of this server answers at the moment');
  const remedy = t(
    'Messages wait, and are tried again automatically. If the problem continues, the owner of the bot checks the Letta server with `doctor`.',
  );
  return [{ ok: false, text, remedy }];
}
