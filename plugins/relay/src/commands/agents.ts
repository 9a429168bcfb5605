import { type IdentityGrant, option, type Subcommand, subcommand, t, UserError, z } from '@cinnabar/sdk';
import { cancelForbidden, firstTools, grantOf, guildIdentity, saveGrant } from '../agents/permissions.js';
import { type GuildAgent, homeOf, type Roster } from '../agents/roster.js';
import type { Relay } from '../context.js';
import { ADMIN, agentNamed, agentOption, guildOf } from './options.js';

/** Letta's ids, and those of self-hosted servers. */
export const AGENT_ID = /^[A-Za-z0-9][A-Za-z0-9_-]{0,79}$/;
const NAME = /^[A-Za-z0-9][A-Za-z0-9_-]{0,31}$/;

/** Schemas of an agent's id at the Letta server, its name here, and the URL of its picture. */
export const agentId = z.string().regex(AGENT_ID, 'expected the id of an agent, such as agent-1234');
export const agentName = z.string().regex(NAME, 'expected letters, digits, - and _, at most 32');
export const picture = z.url({ protocol: /^https$/ }).max(2_000);

const DEFAULT_NAME = 'agent';
const MOST_AGENTS = 20;

/** The commands `!relay agent`, `remove` and `show`. */
export function agentCommands(relay: Relay): readonly Subcommand[] {
  return [
    subcommand({
      name: 'agent',
      description: 'Let a Letta agent into this server, or give a name to another one',
      help: 'It may read and answer in the given channel, or in this one; `relay grant` lets it further. The first agent is the default; one with a channel answers there.',
      access: ADMIN,
      options: {
        id: agentId.describe('Its id at the Letta server'),
        name: agentName.optional().describe('What it is called here'),
        channel: option.channel().optional().describe('Where it answers before the default agent'),
      },
      examples: ['relay agent agent-1234', 'relay agent agent-1234 aurora', 'relay agent agent-5678 scout #maps'],
      run: async (ctx, { id, name, channel }) =>
        ctx.reply(
          await letIn(relay, guildOf(ctx), {
            agentId: id,
            name,
            userId: ctx.user.id,
            channelId: ctx.channel.id,
            home: channel?.id,
          }),
        ),
    }),
    subcommand({
      name: 'remove',
      description: 'Send an agent away: it may do nothing here any more',
      access: ADMIN,
      options: { agent: z.string().describe('Its name here') },
      run: async (ctx, { agent }) => ctx.reply(await sendAway(relay, guildOf(ctx), agent)),
    }),
    subcommand({
      name: 'default',
      description: 'Choose the agent that answers where no other does',
      access: ADMIN,
      options: { agent: z.string().describe('Its name here') },
      run: async (ctx, { agent }) => ctx.reply(await chooseDefault(relay, guildOf(ctx), agent)),
    }),
    subcommand({
      name: 'move',
      description: 'Let an agent answer in another channel, and in none of those before',
      access: ADMIN,
      options: {
        agent: z.string().describe('Its name here'),
        channel: option.channel().optional().describe('Where it answers from now on; this channel when left out'),
      },
      examples: ['relay move scout #maps'],
      run: async (ctx, { agent, channel }) =>
        ctx.reply(await move(relay, guildOf(ctx), agent, channel?.id ?? ctx.channel.id)),
    }),
    subcommand({
      name: 'rename',
      description: 'Give an agent another name; its rights, channels and memory stay',
      access: ADMIN,
      options: {
        agent: z.string().describe('Its name here'),
        name: agentName.describe('Its new name'),
      },
      run: async (ctx, { agent, name }) => ctx.reply(await rename(relay, guildOf(ctx), agent, name)),
    }),
    subcommand({
      name: 'avatar',
      description: 'Give an agent a picture of its own, which members see beside what it posts under its name',
      access: ADMIN,
      options: {
        agent: z.string().describe('Its name here'),
        picture: picture.optional().describe('Address of the picture; left out, it has that of the bot'),
      },
      examples: ['relay avatar scout https://example.org/scout.png'],
      run: async (ctx, { agent, picture }) => ctx.reply(await portray(relay, guildOf(ctx), agent, picture)),
    }),
    subcommand({
      name: 'show',
      reads: true,
      description: 'The agents of this server, and what they may do',
      access: ADMIN,
      options: { agent: agentOption(relay.rosters) },
      run: async (ctx, { agent }) => ctx.reply(await showAgents(relay, guildOf(ctx), agent)),
    }),
  ];
}

interface NewAgent {
  readonly agentId: string;
  /** By default the name at the Letta server. */
  readonly name: string | undefined;
  /** The admin who adds the agent; it acts with this member's rights. */
  readonly userId: string;
  /** The channel for its confirmations, and, without `home`, the channel in which it may read and answer. */
  readonly channelId: string;
  /** The channel in which it answers instead of the default agent. */
  readonly home: string | undefined;
}

/** Adds an agent to a guild, or changes one. Like the functions below, resolves with a sentence about the result. @throws UserError */
export async function letIn(relay: Relay, guildId: string, wanted: NewAgent): Promise<string> {
  const { agentId, name: given, userId, channelId, home: channel } = wanted;
  const { rosters, identities, tools } = relay;
  const known = rosters.of(guildId);
  const there = Object.values(known?.agents ?? {}).find((agent) => agent.agentId === agentId);
  const name = given ?? there?.name ?? (await nameAtServer(agentId, relay)) ?? DEFAULT_NAME;
  const key = keyFor(name, known?.agents ?? {});
  const home = await homeOf(agentId, relay, { guildId, key });
  if (home !== undefined)
    throw new UserError(`${home} ${t('An agent lives in one place: make another one for here.')}`);
  const before = known?.agents[key];
  if (before === undefined && Object.keys(known?.agents ?? {}).length >= MOST_AGENTS) {
    throw new UserError(
      t('There are {mostAgents} agents here already. `relay remove` sends one away.', { mostAgents: MOST_AGENTS }),
    );
  }
  const identity = guildIdentity(guildId, key);
  const where = channel ?? channelId;
  const grant = await grantOf(identities, identity, guildId);
  const channels = grant?.channels ?? [];
  await saveGrant(identities, identity, name, {
    guildId,
    // A different agent under this name belongs to the admin who adds it.
    userId,
    channelId,
    channels: channels === 'all' ? channels : [...new Set([...channels, where])],
    tools: grant?.tools ?? firstTools(tools),
  });
  // The token of the previous agent must not stay valid.
  if (before !== undefined && before.agentId !== agentId) await relay.endpoint?.revoke(identity);
  await rosters.update(guildId, (draft) => {
    const { channels: own = [], avatar } = draft.agents[key] ?? {};
    draft.agents[key] = {
      agentId,
      name,
      channels: channel === undefined ? own : [...new Set([...own, channel])],
      // A different agent does not inherit the picture.
      ...(avatar === undefined || before?.agentId !== agentId ? {} : { avatar }),
    };
    draft.defaultAgent ??= key;
  });
  return [
    t(
      '`{name}` is the agent `{agentId}` here. It may read and answer in <#{where}>, in your name; `relay show` lists it all.',
      { name, agentId, where },
    ),
    known?.enabled === true
      ? t('Next: `relay setup {name}` gives it the tools.', { name })
      : t('Next: `relay setup {name}` gives it the tools, and `relay enable` switches the agents on.', { name }),
  ].join('\n');
}

/** The agent's name at the Letta server, reduced to the allowed characters; `undefined` when the server returns none. */
async function nameAtServer(agentId: string, { letta }: Relay): Promise<string | undefined> {
  const info = await letta
    .agents()
    .then((agents) => agents.find(agentId))
    .catch(() => undefined);
  const plain = info?.name
    .replace(/[^A-Za-z0-9_-]+/gu, '-')
    .slice(0, 32)
    .replace(/^[-_]+|-+$/gu, '');
  return plain === '' ? undefined : plain;
}

/** The key for a name. An agent with the same name keeps its key; a key that another name uses is not assigned again. */
function keyFor(name: string, agents: Roster['agents']): string {
  const wanted = name.toLowerCase();
  const known = Object.entries(agents).find(([, agent]) => agent.name.toLowerCase() === wanted)?.[0];
  if (known !== undefined) return known;
  for (let n = 1; ; n += 1) {
    const key = n === 1 ? wanted : `${wanted}-${n}`;
    if (!Object.hasOwn(agents, key)) return key;
  }
}

export async function chooseDefault({ rosters }: Relay, guildId: string, name: string): Promise<string> {
  const { key, agent } = agentNamed(rosters.of(guildId), name);
  await rosters.update(guildId, (draft) => {
    draft.defaultAgent = key;
  });
  return t('`{agent}` is the default agent now: it answers where no other does.', { agent: agent.name });
}

export async function move(
  { rosters, identities }: Relay,
  guildId: string,
  name: string,
  channelId: string,
): Promise<string> {
  const { key, agent } = agentNamed(rosters.of(guildId), name);
  const identity = guildIdentity(guildId, key);
  const grant = await grantOf(identities, identity, guildId);
  if (grant === undefined)
    throw new UserError(t('`{agent}` has lost its rights. Let it in again with `relay agent`.', { agent: agent.name }));
  const { channels } = grant;
  const kept =
    channels === 'all' ? channels : channels.filter((id) => !agent.channels.includes(id) || id === channelId);
  await saveGrant(identities, identity, agent.name, {
    ...grant,
    channels: kept === 'all' ? kept : [...new Set([...kept, channelId])],
  });
  await rosters.update(guildId, (draft) => {
    const moved = draft.agents[key];
    if (moved !== undefined) moved.channels = [channelId];
  });
  return t('`{agent}` answers in <#{channelId}> from now on. `relay show {agent}` lists where it may go.', {
    agent: agent.name,
    channelId,
  });
}

export async function rename(
  { rosters, identities }: Relay,
  guildId: string,
  old: string,
  name: string,
): Promise<string> {
  const { key, agent } = agentNamed(rosters.of(guildId), old);
  const isTaken = Object.entries(rosters.of(guildId)?.agents ?? {}).some(
    ([other, one]) => other !== key && [other, one.name.toLowerCase()].includes(name.toLowerCase()),
  );
  if (isTaken) throw new UserError(t('Another agent is called `{name}` here.', { name }));
  const identity = guildIdentity(guildId, key);
  const grant = await grantOf(identities, identity, guildId);
  if (grant !== undefined) await saveGrant(identities, identity, name, grant);
  await rosters.update(guildId, (draft) => {
    const renamed = draft.agents[key];
    if (renamed !== undefined) renamed.name = name;
  });
  return t('`{agent}` is called `{name}` here now.', { agent: agent.name, name });
}

export async function portray(
  { rosters }: Relay,
  guildId: string,
  name: string,
  picture: string | undefined,
): Promise<string> {
  const { key, agent } = agentNamed(rosters.of(guildId), name);
  await rosters.update(guildId, (draft) => {
    const portrayed = draft.agents[key];
    if (portrayed === undefined) return;
    if (picture === undefined) delete portrayed.avatar;
    else portrayed.avatar = picture;
  });
  return t(
    '`{agent}` has {own, select, yes {a picture of its own} other {my picture}} now. It shows where agents post under their own names (`ownName`).',
    { agent: agent.name, own: picture === undefined ? 'no' : 'yes' },
  );
}

export async function sendAway(relay: Relay, guildId: string, name: string): Promise<string> {
  const { key, agent } = agentNamed(relay.rosters.of(guildId), name);
  const identity = guildIdentity(guildId, key);
  // Rights are removed first, so that after a failure the agent has fewer rights, never more.
  await relay.identities.remove(identity);
  await relay.endpoint?.revoke(identity);
  await relay.rosters.update(guildId, (draft) => {
    delete draft.agents[key];
    if (draft.defaultAgent !== key) return;
    const [next] = Object.keys(draft.agents);
    if (next === undefined) delete draft.defaultAgent;
    else draft.defaultAgent = next;
  });
  await relay.collections.wakes.of(guildId).update((draft) => {
    draft.planned = draft.planned.filter((one) => one.agent !== key);
  });
  await cancelForbidden(guildId, relay);
  return t('`{agent}` is sent away: its rights here are void, and its wake-ups are taken back.', {
    agent: agent.name,
  });
}

/** Shows the state of a guild's agents, or of one. */
async function showAgents(relay: Relay, guildId: string, name: string | undefined): Promise<string> {
  const roster = relay.rosters.of(guildId);
  const one = agentNamed(roster, name);
  const chosen = name === undefined ? Object.entries(roster?.agents ?? {}) : ([[one.key, one.agent]] as const);
  const blocks = chosen.map(([key, agent]) => showOne(relay, guildId, key, agent, key === roster?.defaultAgent));
  return (await Promise.all(blocks)).join('\n\n');
}

async function showOne(relay: Relay, guildId: string, key: string, agent: GuildAgent, isDefault: boolean) {
  const identity = guildIdentity(guildId, key);
  const grant = await grantOf(relay.identities, identity, guildId);
  const hasBearer = (await relay.endpoint?.has(identity)) === true;
  const bearer = hasBearer
    ? t('it has a bearer for the tools')
    : t('it has no bearer for the tools yet (`relay setup`)');
  return [
    t(
      '**{agent}**{isDefault, select, yes { (the default)} other {}}: agent `{agentId}`, acts as `{identity}`; {bearer}',
      {
        agent: agent.name,
        isDefault: isDefault ? 'yes' : 'no',
        agentId: agent.agentId,
        identity,
        bearer,
      },
    ),
    ...(agent.channels.length === 0 ? [] : [t('• answers in {channels}', { channels: channelList(agent.channels) })]),
    ...(grant === undefined ? [t('• may do nothing here')] : grantLines(grant)),
  ].join('\n');
}

function grantLines({ userId, channelId, channels, tools }: IdentityGrant): readonly string[] {
  const named = (policy: 'allow' | 'confirm') => Object.keys(tools).filter((name) => tools[name] === policy);
  const list = (names: readonly string[]) =>
    names.length === 0 ? t('none') : names.map((name) => `\`${name}\``).join(' ');
  return [
    t('• let in by <@{userId}>, and never does what they could not; confirmations are asked for in <#{channelId}>', {
      userId,
      channelId,
    }),
    channels === 'all'
      ? t('• channels: all that they may see')
      : t('• channels: {channels}', { channels: channelList(channels) }),
    t('• tools: {tools}', { tools: list(named('allow')) }),
    ...(named('confirm').length === 0
      ? []
      : [t('• tools that wait for a 👍 each time: {tools}', { tools: list(named('confirm')) })]),
  ];
}

function channelList(channels: readonly string[]): string {
  return channels.length === 0 ? t('none') : channels.map((id) => `<#${id}>`).join(' ');
}
