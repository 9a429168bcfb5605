import { type Registrar, t, UserError, type WebBlock, type WebRow, webAct, z } from '@cinnabar/sdk';
import { guildIdentity, postingProblem } from './agents/permissions.js';
import { disableAgents, droppedText, enableAgents, pauseAgents, resumeAgents } from './commands/config.js';
import { ADMIN } from './commands/options.js';
import { isGoneAtServer, stateOf } from './commands/status.js';
import type { Relay } from './context.js';
import { rulesIn } from './settings.js';

const MOST_ERRORS = 50;
/** How often the page shows the queue anew while somebody looks. */
const LOOK_MS = 3_000;

/** The agents of a guild: how they are doing, what waits for them, and what went wrong. */
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
    async view({ actor }) {
      const guildId = guildOf(actor.guildId);
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
              { name: t('Prompts today'), value: day.turns, ...limit(rules.dayTurns) },
              { name: t('Tokens today'), value: day.tokens, ...limit(rules.dayTokens) },
              { name: t('Wake-ups today'), value: day.wakes, ...limit(rules.wakesPerDay) },
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
                    question: t('Switch the agents of this server off, and cut off what is under way?'),
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
        input: empty,
        access: ADMIN,
        audit: () => 'relay enable',
        run: (_, { actor }) => enableAgents(relay, guildOf(actor.guildId)),
      }),
      disable: webAct({
        input: empty,
        access: ADMIN,
        audit: () => 'relay disable',
        run: (_, { actor }) => disableAgents(relay, guildOf(actor.guildId)),
      }),
      pause: webAct({
        input: empty,
        access: ADMIN,
        audit: () => 'relay pause',
        run: (_, { actor }) => pauseAgents(relay, guildOf(actor.guildId)),
      }),
      resume: webAct({
        input: empty,
        access: ADMIN,
        audit: () => 'relay resume',
        run: (_, { actor }) => resumeAgents(relay, guildOf(actor.guildId)),
      }),
      clear: webAct({
        input: empty,
        access: ADMIN,
        audit: () => 'relay queue clear',
        run: async (_, { actor }) => droppedText(await queue.clear(guildOf(actor.guildId))),
      }),
    },
  });
}

/** The page is about a guild. */
function guildOf(guildId: string | null): string {
  if (guildId === null) throw new UserError(t('This only works in a server.'));
  return guildId;
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
  return {
    id: key,
    cells: [
      shown,
      { badge: stateOf(breaker, clock.now()), tone: breaker.state === 'closed' ? 'good' : 'bad' },
      channels.length === 0
        ? t('where no other does')
        : t('{count, plural, one {# channel} other {# channels}}', { count: channels.length }),
      trouble,
    ],
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
        t('{events, plural, one {# event} other {# events}} waiting', { events }),
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
                question: t('Drop everything that waits for the agents of this server?'),
              },
            ],
          } as const,
        ]),
  ];
}
