import {
  type Actor,
  type IdentityGrant,
  type Registrar,
  requireGuildId,
  t,
  translated,
  UserError,
  type WebBlock,
  type WebFact,
  type WebRow,
  webAct,
  z,
} from '@cinnabar/sdk';
import { grantOf, guildIdentity } from './agents/permissions.js';
import type { GuildAgent } from './agents/roster.js';
import { agentName, chooseDefault, move, picture, portray, rename, sendAway } from './commands/agents.js';
import {
  addChannel,
  changeGrant,
  everywhere,
  type GrantChange,
  onlyHere,
  removeChannel,
  removeTool,
  setTool,
} from './commands/grants.js';
import { agentNamed } from './commands/options.js';
import type { Relay } from './context.js';
import { AGENT_PAGE, channelIn } from './page.js';

const named = z.object({ agent: z.string().min(1) });
const withChannel = named.extend({ channel: z.string().optional() });
const withTool = named.extend({ tool: z.string().min(1) });
const policies = z.enum(['allow', 'confirm']);

/** Registers the page of one agent: its identity and grants, with the actions of `!relay grant`, `ungrant`, `rename`, `move` and `remove`. */
export function registerAgentPage({ page }: Pick<Registrar, 'page'>, relay: Relay): void {
  const { endpoint, identities, rosters, tools } = relay;
  const granting = (actor: Actor, agent: string, by: GrantChange) =>
    changeGrant(relay, requireGuildId(actor), agent, by);
  const here = (agent: string) => ({ page: AGENT_PAGE, query: { agent } });

  page({
    name: 'agent',
    title: 'Letta agent',
    description: 'As whom it acts here, and how far it may go.',
    about: 'guild',
    group: 'hidden',
    access: { command: 'relay show' },
    async view({ actor, query }) {
      const guildId = requireGuildId(actor);
      if (query.agent === undefined) throw new UserError(t('Choose an agent in the list of agents.'));
      const roster = rosters.of(guildId);
      const { key, agent } = agentNamed(roster, query.agent);
      const identity = guildIdentity(guildId, key);
      const grant = await grantOf(identities, identity, guildId);
      const isDefault = key === roster?.defaultAgent;
      const facts: readonly WebFact[] = [
        { name: t('At the Letta server'), value: { code: agent.agentId } },
        { name: t('Acts as'), value: { code: identity } },
        {
          name: t('Bearer for the tools'),
          value:
            (await endpoint?.has(identity)) === true
              ? t('yes')
              : t('not yet: `relay setup {name}`', { name: agent.name }),
        },
        { name: t('It answers'), value: placesText(agent, isDefault) },
        ...(grant === undefined
          ? []
          : [
              {
                name: t('Let in by'),
                value: { user: grant.userId },
                hint: t('It never does what they could not.'),
              },
              { name: t('Asks for confirmations in'), value: { channel: grant.channelId } },
            ]),
      ];
      return {
        title: agent.name,
        blocks: [
          { kind: 'facts', facts },
          ...(grant === undefined
            ? [
                {
                  kind: 'notice',
                  tone: 'warning',
                  text: t('`{agent}` has lost its rights. Let it in again with `relay agent`.', { agent: agent.name }),
                } as const,
              ]
            : [...channelBlocks(agent.name, grant), ...toolBlocks(agent.name, grant, tools.list())]),
          ...nameBlocks(agent, isDefault),
        ],
      };
    },
    acts: {
      'grant-channel': webAct({
        effect: 'changes',
        input: withChannel,
        access: { command: 'relay grant channel' },
        audit: ({ agent, channel }) => `relay grant channel <#${channel}> ${agent}`,
        run: async ({ agent, channel }, { actor }) =>
          granting(actor, agent, addChannel(await channelIn(relay, actor, channel))),
      }),
      'ungrant-channel': webAct({
        effect: 'destroys',
        question: ({ agent = '', channel = '' }) =>
          t('Take `{agent}` out of <#{channel}>? It can be let in again here.', { agent, channel }),
        input: withChannel,
        access: { command: 'relay ungrant channel' },
        audit: ({ agent, channel }) => `relay ungrant channel <#${channel}> ${agent}`,
        run: async ({ agent, channel = '' }, { actor }) => ({
          said: await granting(actor, agent, removeChannel(channel)),
          undo: { act: 'grant-channel', input: { agent, channel } },
        }),
      }),
      everywhere: webAct({
        effect: 'changes',
        input: named,
        access: { command: 'relay grant everywhere' },
        audit: ({ agent }) => `relay grant everywhere ${agent}`,
        run: ({ agent }, { actor }) => granting(actor, agent, everywhere),
      }),
      only: webAct({
        effect: 'destroys',
        question: ({ agent = '' }) =>
          t('Take all channels but this one from `{agent}`? They can be granted again here.', { agent }),
        input: withChannel,
        access: { command: 'relay ungrant everywhere' },
        audit: ({ agent, channel }) => `relay ungrant everywhere ${agent} (but <#${channel}>)`,
        run: async ({ agent, channel }, { actor }) =>
          granting(actor, agent, onlyHere(await channelIn(relay, actor, channel))),
      }),
      'grant-tool': webAct({
        effect: 'changes',
        input: withTool.extend({ policy: policies }),
        access: { command: 'relay grant tool' },
        audit: ({ agent, tool, policy }) => `relay grant tool ${tool} ${policy} ${agent}`,
        run: ({ agent, tool, policy }, { actor }) => granting(actor, agent, setTool(relay, tool, policy)),
      }),
      'ungrant-tool': webAct({
        effect: 'destroys',
        question: ({ agent = '', tool = '' }) =>
          t('Take the tool `{tool}` from `{agent}`? It can be granted again here.', { agent, tool }),
        input: withTool,
        access: { command: 'relay ungrant tool' },
        audit: ({ agent, tool }) => `relay ungrant tool ${tool} ${agent}`,
        run: ({ agent, tool }, { actor }) => granting(actor, agent, removeTool(tool)),
      }),
      rename: webAct({
        effect: 'changes',
        input: named.extend({ name: agentName }),
        access: { command: 'relay rename' },
        audit: ({ agent, name }) => `relay rename ${agent} ${name}`,
        async run({ agent, name }, { actor }) {
          return { said: await rename(relay, requireGuildId(actor), agent, name), goTo: here(name) };
        },
      }),
      avatar: webAct({
        effect: 'changes',
        input: named.extend({ picture: picture.optional() }),
        access: { command: 'relay avatar' },
        audit: (input) =>
          ['relay avatar', input.agent, ...(input.picture === undefined ? [] : [input.picture])].join(' '),
        run: (input, { actor }) => portray(relay, requireGuildId(actor), input.agent, input.picture),
      }),
      move: webAct({
        effect: 'changes',
        input: withChannel,
        access: { command: 'relay move' },
        audit: ({ agent, channel }) => `relay move ${agent} <#${channel}>`,
        run: async ({ agent, channel }, { actor }) =>
          move(relay, requireGuildId(actor), agent, await channelIn(relay, actor, channel)),
      }),
      default: webAct({
        effect: 'changes',
        input: named,
        access: { command: 'relay default' },
        audit: ({ agent }) => `relay default ${agent}`,
        run: ({ agent }, { actor }) => chooseDefault(relay, requireGuildId(actor), agent),
      }),
      remove: webAct({
        effect: 'destroys',
        question: ({ agent = '' }) =>
          t(
            'Send `{name}` away? Its rights, its bearer and its wake-ups end at once. What it remembers stays at the Letta server: let in again with the same id it begins with the rights of a new one.',
            { name: agent },
          ),
        input: named,
        access: { command: 'relay remove' },
        audit: ({ agent }) => `relay remove ${agent}`,
        async run({ agent }, { actor }) {
          return { said: await sendAway(relay, requireGuildId(actor), agent), goTo: { page: 'relay/agents' } };
        },
      }),
    },
  });
}

function placesText({ channels }: GuildAgent, isDefault: boolean): string {
  const places = channels.map((id) => `<#${id}>`);
  return [...places, ...(isDefault ? [t('where no other does')] : [])].join(', ') || t('when it is named');
}

function channelBlocks(agent: string, { channels, userId }: IdentityGrant): readonly WebBlock[] {
  const choose = { name: 'channel', label: t('Channel or category'), control: { kind: 'channel' } } as const;
  if (channels === 'all')
    return [
      {
        kind: 'notice',
        tone: 'warning',
        text: t(
          'It may go wherever <@{userId}> may, also where others may not. What it reads there it can tell elsewhere.',
          {
            userId,
          },
        ),
      },
      {
        kind: 'form',
        act: 'only',
        title: t('Leave it one channel'),
        input: { agent },
        fields: [choose],
        submit: t('Take the others away'),
      },
    ];
  return [
    {
      kind: 'table',
      title: t('Where it may go'),
      columns: [{ name: t('Channel or category') }],
      rows: channels.map(
        (channel): WebRow => ({
          id: channel,
          cells: [{ channel }],
          buttons: [
            {
              act: 'ungrant-channel',
              label: t('Take away'),
              tone: 'danger',
              input: { agent, channel },
            },
          ],
        }),
      ),
      empty: t('It may go nowhere.'),
    },
    {
      kind: 'form',
      act: 'grant-channel',
      title: t('Let it into another channel'),
      text: t('With its threads; of a category all channels.'),
      input: { agent },
      fields: [choose],
      submit: t('Let it in'),
    },
    {
      kind: 'buttons',
      buttons: [
        {
          act: 'everywhere',
          label: t('Let it go everywhere'),
          input: { agent },
          question: t(
            'Let `{agent}` go wherever <@{userId}> may, also where others may not? What it reads there it can tell elsewhere. It can be taken back here, down to one channel.',
            { agent, userId },
          ),
        },
      ],
    },
  ];
}

function toolBlocks(
  agent: string,
  { tools: granted }: IdentityGrant,
  all: ReturnType<Relay['tools']['list']>,
): readonly WebBlock[] {
  const known = new Map(all.map((tool) => [tool.name, tool]));
  const rows = Object.entries(granted)
    .toSorted(([one], [other]) => one.localeCompare(other))
    .map(([tool, policy]): WebRow => {
      const info = known.get(tool);
      return {
        id: tool,
        cells: [
          { code: tool },
          info === undefined ? t('is not there at the moment') : translated(info.description),
          policy === 'confirm'
            ? { badge: t('waits for a 👍'), tone: 'warning' }
            : { badge: t('at once'), tone: 'plain' },
        ],
        buttons: [
          {
            act: 'ungrant-tool',
            label: t('Take away'),
            tone: 'danger',
            input: { agent, tool },
          },
        ],
      };
    });
  return [
    {
      kind: 'table',
      title: t('What it may do'),
      columns: [{ name: t('Tool') }, { name: t('What it does') }, { name: t('When') }],
      rows,
      empty: t('It has no tools.'),
    },
    {
      kind: 'form',
      act: 'grant-tool',
      title: t('Grant a tool'),
      text: t('`relay setup {name}` attaches it at the Letta server.', { name: agent }),
      input: { agent },
      fields: [
        {
          name: 'tool',
          label: t('Tool'),
          control: {
            kind: 'text',
            suggestions: all.map(({ name }) => name).filter((name) => !Object.hasOwn(granted, name)),
          },
        },
        {
          name: 'policy',
          label: t('When'),
          control: {
            kind: 'choice',
            of: [
              { value: 'confirm', text: t('each call waits for a 👍') },
              { value: 'allow', text: t('at once') },
            ],
          },
          value: 'confirm',
        },
      ],
      submit: t('Grant it'),
    },
  ];
}

/** The agent's name, its preferred channels, and its removal. */
function nameBlocks({ name, avatar, channels }: GuildAgent, isDefault: boolean): readonly WebBlock[] {
  const input = { agent: name };
  return [
    {
      kind: 'form',
      act: 'rename',
      compact: true,
      input,
      fields: [
        {
          name: 'name',
          label: t('Name'),
          hint: t('Its rights, channels and memory stay.'),
          control: { kind: 'text' },
          value: name,
        },
      ],
      submit: t('Save'),
    },
    {
      kind: 'form',
      act: 'avatar',
      compact: true,
      input,
      fields: [
        {
          name: 'picture',
          label: t('Picture'),
          hint: t('Its address (https), beside what it posts under its own name; empty: that of the bot.'),
          control: { kind: 'text' },
          optional: true,
          ...(avatar === undefined ? {} : { value: avatar }),
        },
      ],
      submit: t('Save'),
    },
    {
      kind: 'form',
      act: 'move',
      compact: true,
      input,
      fields: [
        {
          name: 'channel',
          label: t('Answers in'),
          hint: t('In this channel before the default agent, and in none of those before.'),
          control: { kind: 'channel' },
          ...(channels[0] === undefined ? {} : { value: channels[0] }),
        },
      ],
      submit: t('Save'),
    },
    {
      kind: 'buttons',
      buttons: [
        ...(isDefault ? [] : [{ act: 'default', label: t('Make it the default'), input }]),
        {
          act: 'remove',
          label: t('Send it away'),
          tone: 'danger',
          input,
        },
      ],
    },
  ];
}
