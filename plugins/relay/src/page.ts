import {
  type Actor,
  type Registrar,
  requireGuildId,
  t,
  UserError,
  type WebBlock,
  type WebRow,
  webAct,
  z,
} from '@cinnabar/sdk';
import { guildIdentity, postingProblem } from './agents/permissions.js';
import { agentId, agentName, letIn } from './commands/agents.js';
import { disableAgents, droppedText, enableAgents, pauseAgents, resumeAgents } from './commands/config.js';
import { isGoneAtServer, stateOf } from './commands/status.js';
import type { Relay } from './context.js';
import { rulesIn } from './settings.js';

/** The page of one agent, whose key is part of the address. */
export const AGENT_PAGE = 'relay/agent';

const MOST_ERRORS = 50;
/** Includes their tokens. */
const ANSWERS = { page: 'accounts/answers' };
const PAGE = 'relay/agents';
const WAKES = { page: PAGE, query: { list: 'wakes' } };

/** Interval in which the open page refreshes the queue. */
const LOOK_MS = 3_000;

/** Registers the page of a guild's agents: their state, their queued messages, and recent errors. */
export function registerPage({ page, every }: Pick<Registrar, 'page' | 'every'>, relay: Relay): void {
  const { budget, errors, queue, rosters, settings } = relay;
  const empty = z.object({});

  page({
    name: 'agents',
    title: 'Letta agents',
    description: 'How the agents of this server are doing, and what waits for them.',
    about: 'guild',
    group: 'agents',
    access: { command: 'relay status' },
    async view({ actor, query }) {
      const guildId = requireGuildId(actor);
      if (query.list === 'wakes') return { title: t('Wake-ups'), blocks: [await wakeTable(relay, guildId)] };
      const roster = rosters.of(guildId);
      const rules = await rulesIn(settings, guildId);
      const day = await budget.today(guildId);
      const isOn = roster?.enabled === true;
      const isPaused = roster?.paused === true;
      const agents = Object.entries(roster?.agents ?? {});
      return {
        blocks: [
          {
            kind: 'figures',
            figures: [
              {
                name: t('State'),
                value: isOn
                  ? { badge: isPaused ? t('paused') : t('on'), tone: isPaused ? 'warning' : 'good' }
                  : { badge: t('off'), tone: 'plain' },
              },
              { name: t('Prompts today'), value: { count: day.turns, link: ANSWERS }, ...limit(rules.dayTurns) },
              { name: t('Tokens today'), value: { measure: day.tokens }, ...limit(rules.dayTokens), link: ANSWERS },
              { name: t('Wake-ups today'), value: { count: day.wakes, link: WAKES }, ...limit(rules.wakesPerDay) },
            ],
          },
          {
            kind: 'buttons',
            buttons: [
              isOn
                ? {
                    act: 'disable',
                    label: t('Switch off'),
                    tone: 'danger',
                  }
                : { act: 'enable', label: t('Switch on') },
              ...(isOn ? [isPaused ? { act: 'resume', label: t('Resume') } : { act: 'pause', label: t('Pause') }] : []),
            ],
          },
          {
            kind: 'table',
            title: t('Agents'),
            columns: [{ name: t('Agent') }, { name: t('State') }, { name: t('Channels') }, { name: t('Trouble') }],
            rows: await Promise.all(agents.map((entry) => agentRow(relay, guildId, entry, roster?.defaultAgent))),
            empty: t('There is no agent yet: `relay agent <id>`.'),
          },
          LET_IN(),
          ...(await queueBlocks(relay, guildId)),
          {
            kind: 'table',
            title: t('What went wrong lately'),
            columns: [
              { name: t('When') },
              { name: t('Channel') },
              { name: t('Agent') },
              { name: t('What') },
              { name: t('Kind') },
            ],
            rows: (await errors.recent(guildId))
              .slice(0, MOST_ERRORS)
              .map(({ at, agent, channelId, kind, sentence }, index) => ({
                id: `${at}-${index}`,
                cells: [{ time: at }, { channel: channelId }, agent, sentence, { code: kind }],
                changedAt: at,
              })),
            empty: t('Nothing went wrong.'),
          },
        ],
      };
    },
    watch(_, changed) {
      const end = every(LOOK_MS, changed);
      return () => void end();
    },
    acts: {
      enable: webAct({
        effect: 'changes',
        input: empty,
        access: { command: 'relay enable' },
        audit: () => 'relay enable',
        run: (_, { actor }) => enableAgents(relay, requireGuildId(actor)),
      }),
      disable: webAct({
        effect: 'destroys',
        question: () => t('Switch the agents of this server off, and cut off what is under way?'),
        input: empty,
        access: { command: 'relay disable' },
        audit: () => 'relay disable',
        run: (_, { actor }) => disableAgents(relay, requireGuildId(actor)),
      }),
      pause: webAct({
        effect: 'changes',
        input: empty,
        access: { command: 'relay pause' },
        audit: () => 'relay pause',
        run: (_, { actor }) => pauseAgents(relay, requireGuildId(actor)),
      }),
      resume: webAct({
        effect: 'changes',
        input: empty,
        access: { command: 'relay resume' },
        audit: () => 'relay resume',
        run: (_, { actor }) => resumeAgents(relay, requireGuildId(actor)),
      }),
      agent: webAct({
        effect: 'changes',
        input: z.object({
          id: agentId,
          name: agentName.optional(),
          channel: z.string().optional(),
          answersFirst: z.boolean().default(false),
        }),
        access: { command: 'relay agent' },
        audit: ({ id, name, channel, answersFirst }) =>
          ['relay agent', id, ...(name === undefined ? [] : [name]), ...(answersFirst ? [`<#${channel}>`] : [])].join(
            ' ',
          ),
        async run({ id, name, channel, answersFirst }, { actor }) {
          const channelId = await channelIn(relay, actor, channel);
          if (relay.client.channels.cache.get(channelId)?.isTextBased() !== true)
            throw new UserError(t('Choose a channel in which one can write.'));
          const home = answersFirst ? channelId : undefined;
          return letIn(relay, requireGuildId(actor), { agentId: id, name, userId: actor.userId, channelId, home });
        },
      }),
      clear: webAct({
        effect: 'destroys',
        question: () => t('Drop everything that waits for the agents of this server?'),
        input: empty,
        access: { command: 'relay queue' },
        audit: () => 'relay queue clear',
        run: async (_, { actor }) => droppedText(await queue.clear(requireGuildId(actor))),
      }),
    },
  });
}

const LET_IN = (): WebBlock => ({
  kind: 'form',
  act: 'agent',
  title: t('Let an agent in'),
  text: t(
    'It acts in your name: it never does what you could not. What it may do from the start is to read, answer and react.',
  ),
  fields: [
    { name: 'id', label: t('Id at the Letta server'), control: { kind: 'text', placeholder: 'agent-1234' } },
    {
      name: 'name',
      label: t('Name'),
      hint: t('What it is called here; by default as at the Letta server.'),
      control: { kind: 'text' },
      optional: true,
    },
    {
      name: 'channel',
      label: t('Channel'),
      hint: t('Where it may read and answer, and asks for confirmations.'),
      control: { kind: 'channel' },
    },
    {
      name: 'answersFirst',
      label: t('It answers there before the default agent'),
      control: { kind: 'switch' },
      optional: true,
    },
  ],
  submit: t('Let it in'),
});

/** The id of a chosen channel or category. @throws UserError when it is not in the guild, or the person cannot see it */
export async function channelIn({ access, client }: Relay, actor: Actor, channelId = ''): Promise<string> {
  const { guildId } = actor;
  const isHere = guildId !== null && client.guilds.cache.get(guildId)?.channels.cache.has(channelId) === true;
  if (!isHere || !(await access.mayEnter(actor, { guildId, channelId })))
    throw new UserError(t('Choose a channel of this server that you can see.'));
  return channelId;
}

const limit = (most: number) => (most === 0 ? {} : { hint: t('of {most, number}', { most }) });

type AgentEntry = readonly [
  key: string,
  agent: { readonly name: string; readonly agentId: string; readonly channels: readonly string[] },
];

async function agentRow(
  relay: Relay,
  guildId: string,
  [key, { name, agentId, channels }]: AgentEntry,
  defaultKey: string | undefined,
): Promise<WebRow> {
  const { breakers, clock, identities, letta } = relay;
  const breaker = breakers.for(await letta.globalName(agentId));
  const grant = (await identities.get(guildIdentity(guildId, key)))?.grants.find((one) => one.guildId === guildId);
  const home = channels[0] ?? grant?.channelId;
  const problem = home === undefined ? undefined : await postingProblem(guildId, { key, name }, home, relay);
  const isGone = await isGoneAtServer(agentId, relay);
  const shown = key === defaultKey ? t('{name} (the default)', { name }) : name;
  const trouble = isGone
    ? t('The Letta server knows no agent `{agentId}`.', { agentId })
    : problem === undefined
      ? null
      : `${problem.text}. ${problem.todo}`;
  const link = { page: AGENT_PAGE, query: { agent: name } };
  return {
    id: key,
    link,
    cells: [
      shown,
      { badge: stateOf(breaker, clock.now()), tone: breaker.state === 'closed' ? 'good' : 'bad' },
      channels.length === 0
        ? t('where no other does')
        : { link, text: t('{count, plural, one {# channel} other {# channels}}', { count: channels.length }) },
      trouble,
    ],
  };
}

/** The planned wake-ups. */
async function wakeTable({ collections }: Relay, guildId: string): Promise<WebBlock> {
  const { planned } = await collections.wakes.of(guildId).get();
  return {
    kind: 'table',
    columns: [
      { name: t('When') },
      { name: t('Agent') },
      { name: t('Channel') },
      { name: t('What') },
      { name: t('Next') },
    ],
    rows: planned.map(({ id, when, agent, channelId, text, dueAt }) => ({
      id: String(id),
      cells: [when, agent, { channel: channelId }, text, { time: dueAt }],
    })),
    empty: t('No wake-up is planned. `relay wake "every day 9:00" Say good morning` plans one.'),
  };
}

async function queueBlocks({ queue }: Relay, guildId: string): Promise<readonly WebBlock[]> {
  const { dropped, sending, waiting } = await queue.status(guildId);
  const rows: readonly WebRow[] = [
    ...sending.map(({ channelId, since }) => ({
      id: `sending-${channelId}`,
      cells: [{ channel: channelId }, { badge: t('an agent is at work'), tone: 'busy' as const }, { time: since }],
    })),
    ...waiting.map(({ channelId, events, oldestAt }) => ({
      id: `waiting-${channelId}`,
      cells: [
        { channel: channelId },
        {
          link: { discord: `https://discord.com/channels/${guildId}/${channelId}` },
          text: t('{events, plural, one {# event} other {# events}} waiting', { events }),
        },
        { time: oldestAt },
      ],
    })),
  ];
  return [
    {
      kind: 'table',
      title: t('Queue'),
      columns: [{ name: t('Channel') }, { name: t('State') }, { name: t('Since') }],
      rows,
      empty: t('Nothing waits.'),
    },
    ...(dropped === 0
      ? []
      : [
          {
            kind: 'notice',
            tone: 'warning',
            text: t(
              '{count, plural, one {# was} other {# were}} given up since the bot started, because too many waited.',
              { count: dropped },
            ),
          } as const,
        ]),
    ...(waiting.length === 0
      ? []
      : [
          {
            kind: 'buttons',
            buttons: [
              {
                act: 'clear',
                label: t('Drop what waits'),
                tone: 'danger',
              },
            ],
          } as const,
        ]),
  ];
}
