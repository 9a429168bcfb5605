import { type Identities, type IdentityGrant, type IdentityProfiles, t, z } from '@cinnabar/sdk';
import type { RelayContext, RelayStores } from '../context.js';
import type { RelayEvent } from '../events/event.js';
import {
  agentKeyOf,
  directGrant,
  directIdentity,
  directKey,
  grantOf,
  guildIdentity,
  saveGrant,
} from './permissions.js';

/** Which messages of a channel reach the agents: all, those that address them, these and digests, or none. */
export const CHANNEL_MODES = ['always', 'mention', 'digest', 'off'] as const;
export type ChannelMode = (typeof CHANNEL_MODES)[number];

const agent = z.object({
  /** The agent's id at the Letta server. */
  agentId: z.string(),
  /** The name in the spelling of the admins; the roster key is the name in lower case. */
  name: z.string(),
  /** Channels in which it answers instead of the default agent. */
  channels: z.array(z.string()).default([]),
  /** URL of its avatar; without one, the bot's is used. */
  avatar: z.string().optional(),
});

/** A guild's agents, and which messages reach them. Every process reads all rosters, because an agent has one home only. */
export const rosters = {
  scope: 'guild',
  version: 1,
  shared: true,
  schema: z.object({
    enabled: z.boolean().default(false),
    paused: z.boolean().default(false),
    agents: z.record(z.string(), agent).default({}),
    defaultAgent: z.string().optional(),
    /** Modes by channel; channels without an entry have `mention`. */
    modes: z.record(z.string(), z.enum(CHANNEL_MODES)).default({}),
  }),
} as const;

export type Roster = z.output<typeof rosters.schema>;
export type GuildAgent = Roster['agents'][string];

export type Rosters = Awaited<ReturnType<typeof openRosters>>;

/** Loads every guild's roster into memory, so that a message for no agent costs one look-up only. Changes by other processes update it. */
export async function openRosters({ collections, defer, log }: RelayContext) {
  const { rosters: stored } = collections;
  const known = new Map<string, Roster>();
  const read = async (guildId: string) => {
    const roster = await stored.of(guildId).find();
    if (roster === undefined) known.delete(guildId);
    else known.set(guildId, roster);
  };
  defer(
    stored.watch((guildId, { isRemote }) => {
      if (!isRemote) return;
      read(guildId).catch((error: unknown) =>
        log.warn('agents that were changed elsewhere could not be read', { guildId, error }),
      );
    }),
  );
  for await (const [guildId, roster] of stored.entries()) known.set(guildId, roster);
  return {
    /** The roster, also if agents are switched off; `undefined` if no admin has configured agents. */
    of: (guildId: string): Roster | undefined => known.get(guildId),
    /** The roster if agents are switched on in the guild. */
    enabled(guildId: string | null): Roster | undefined {
      const roster = guildId === null ? undefined : known.get(guildId);
      return roster?.enabled === true ? roster : undefined;
    },
    /** Resolves when the change is stored; it takes effect only then. */
    async update(guildId: string, change: (draft: Roster) => unknown): Promise<Roster> {
      const roster = await stored.of(guildId).update(change);
      known.set(guildId, roster);
      return roster;
    },
    all: (): Iterable<readonly [guildId: string, roster: Roster]> => known.entries(),
  };
}

/** @param places the channel, then its parents */
export function modeOf({ modes }: Roster, places: readonly string[]): ChannelMode {
  return places.map((id) => modes[id]).find((mode) => mode !== undefined) ?? 'mention';
}

export interface Chosen {
  /** Its roster key. */
  readonly key: string;
  readonly agent: GuildAgent;
}

/**
 * The agent of a guild that a message is for: the one that the text names, otherwise the channel's, otherwise the default.
 * @param places the channel, then its parents
 */
export function chooseAgent(roster: Roster, places: readonly string[], text: string): Chosen | undefined {
  return namedIn(roster, text) ?? ofChannel(roster, places) ?? byKey(roster, roster.defaultAgent);
}

/**
 * The agent that a text addresses by name: at the beginning, after a greeting or an @, or set off by a comma at the end. A name within a sentence, as "max" in
 * "the max level", addresses no agent. Of two names at the same position, the longer one counts.
 * @param isForBot whether the text addresses the bot; in other texts, a name at the beginning must be set off, too: "max, are you there?"
 */
export function namedIn({ agents }: Roster, text: string, isForBot = true): Chosen | undefined {
  const said = text.replace(LEADING_MENTIONS, '');
  const found = Object.entries(agents).flatMap(([key, agent]) => {
    const at = asAddress(agent.name, isForBot).exec(said)?.index;
    return at === undefined ? [] : [{ key, agent, at }];
  });
  const [first] = found.sort((a, b) => a.at - b.at || b.agent.name.length - a.agent.name.length);
  return first && { key: first.key, agent: first.agent };
}

export function byKey({ agents }: Roster, key: string | undefined): Chosen | undefined {
  const agent = key === undefined || !Object.hasOwn(agents, key) ? undefined : agents[key];
  return key === undefined || agent === undefined ? undefined : { key, agent };
}

function ofChannel({ agents }: Roster, places: readonly string[]): Chosen | undefined {
  for (const place of places) {
    const found = Object.entries(agents).find(([, { channels }]) => channels.includes(place));
    if (found !== undefined) return { key: found[0], agent: found[1] };
  }
  return undefined;
}

const LEADING_MENTIONS = /^(?:\s*<@!?\d+>[\s,:]*)+/u;
const GREETING = '(?:hey|hi|hello|hallo|ok|okay|dear|yo|thanks|thank you)';

/** Compiled expressions by name: every message in a guild with agents is tested. */
const addresses = new Map<string, RegExp>();

/** Names consist of letters, digits, `-` and `_`, so only the hyphen has to be escaped. */
function asAddress(name: string, isForBot: boolean): RegExp {
  const known = addresses.get(`${name} ${isForBot}`);
  if (known !== undefined) return known;
  const plain = name.replace(/-/g, '\\x2d');
  const end = '(?![\\p{L}\\p{N}_-])';
  const setOff = isForBot ? end : '(?=\\s*(?:[,:;!?.…—]|$))';
  const address = new RegExp(
    `(?:^\\s*@?${plain}${setOff})|(?:^\\s*${GREETING}[\\s,]+@?${plain}${end})|(?:(?<![\\p{L}\\p{N}_-])@${plain}${end})|(?:,\\s*${plain}\\s*[.!?…]*\\s*$)`,
    'iu',
  );
  addresses.set(`${name} ${isForBot}`, address);
  return address;
}

/** The name and picture under which a guild's agents post: the agent's own if the guild's setting says so, or, by default, if there are several agents. */
export function createProfiles({ rosters, settings, client }: RelayStores): IdentityProfiles {
  return async ({ id }, guildId) => {
    const roster = rosters.enabled(guildId);
    const chosen = roster && byKey(roster, agentKeyOf(id));
    if (guildId === null || chosen === undefined || id !== guildIdentity(guildId, chosen.key)) return undefined;
    const { ownName } = await settings.guild(guildId).get();
    const isOwn = ownName === 'on' || (ownName === 'auto' && Object.keys(roster?.agents ?? {}).length > 1);
    if (!isOwn) return undefined;
    const { name, avatar } = chosen.agent;
    return { name, avatarUrl: avatar ?? client.user?.displayAvatarURL({ extension: 'png' }) };
  };
}

/** The agent of an event, by the current settings. */
export interface Target {
  readonly agentId: string;
  /** The identity under which it acts. */
  readonly identity: string;
  /** The name for people. */
  readonly name: string;
  /** The member with whose rights it acts: the one who caused the event, otherwise the one who added the agent. */
  readonly userId: string | undefined;
  /** The channels for which it has a grant. */
  readonly channels: IdentityGrant['channels'];
  /** Names of the granted tools. */
  readonly granted: ReadonlySet<string>;
}

/**
 * The agent of an event. It is looked up at the delivery, so that changed settings also apply to queued events.
 * @returns `undefined` when the agent was removed or switched off
 */
export async function targetOf(event: RelayEvent, stores: RelayStores): Promise<Target | undefined> {
  return event.guildId === null ? directTarget(event, stores) : guildTarget(event, event.guildId, stores);
}

async function guildTarget(event: RelayEvent, guildId: string, { rosters, identities }: RelayStores) {
  const roster = rosters.enabled(guildId);
  const chosen = roster === undefined ? undefined : byKey(roster, event.agent);
  if (chosen === undefined) return undefined;
  const identity = guildIdentity(guildId, chosen.key);
  const grant = await grantOf(identities, identity, guildId);
  return {
    agentId: chosen.agent.agentId,
    identity,
    name: chosen.agent.name,
    userId: event.userId ?? grant?.userId,
    channels: grant?.channels ?? [],
    granted: new Set(Object.keys(grant?.tools ?? {})),
  };
}

async function directTarget({ userId, channelId }: RelayEvent, { dmAgents, settings }: RelayStores) {
  if (userId === null || (await settings.user(userId).get()).dm !== 'on') return undefined;
  const agent = await dmAgents.agentOf(userId);
  if (agent === undefined) return undefined;
  const { channels, tools } = directGrant(userId, channelId);
  const granted = new Set(Object.keys(tools));
  return { agentId: agent.agentId, identity: agent.identity, name: 'agent', userId, channels, granted };
}

/** Replaces the grant of the agent of direct messages by one for the event's conversation only. */
export async function grantConversation(
  identities: Identities,
  { identity, name }: Target,
  event: RelayEvent,
): Promise<void> {
  if (event.guildId !== null || event.userId === null) return;
  await saveGrant(identities, identity, name, directGrant(event.userId, event.channelId));
}

/** The stored data of a person's direct messages. */
export const directs = {
  scope: 'user',
  version: 1,
  shared: true,
  schema: z.object({
    /** The id of the person's own agent, which the bot's owner assigns. */
    agentId: z.string().optional(),
    /** Whether the person was asked for consent. */
    asked: z.boolean().default(false),
  }),
} as const;
export type DmAgents = ReturnType<typeof createDmAgents>;

/** Finds the agent that answers a person's direct messages: the person's own, or the shared one. */
export function createDmAgents({ collections: { directs: stored }, settings }: RelayContext) {
  return {
    /** @returns the agent with its key in events; `undefined` without one */
    async agentOf(userId: string) {
      const { agentId } = await stored.of(userId).get();
      if (agentId !== undefined) return { agentId, key: directKey(userId), identity: directIdentity(userId) };
      const { dmAgent } = await settings.global.get();
      if (dmAgent === undefined) return undefined;
      return { agentId: dmAgent, key: directKey(undefined), identity: directIdentity(undefined) };
    },
    /** Assigns a separate agent to a person; `undefined` removes it. */
    async assign(userId: string, agentId: string | undefined): Promise<void> {
      await stored.of(userId).update((draft) => {
        if (agentId === undefined) delete draft.agentId;
        else draft.agentId = agentId;
      });
    },
    /** Records that a person is asked for consent. @returns `true` the first time */
    async noteAsked(userId: string): Promise<boolean> {
      let first = false;
      await stored.of(userId).update((draft) => {
        first = !draft.asked;
        draft.asked = true;
      });
      return first;
    },
    /** The user whose own agent it is. */
    async ownerOf(agentId: string): Promise<string | undefined> {
      for await (const [userId, direct] of stored.entries()) if (direct.agentId === agentId) return userId;
      return undefined;
    },
  };
}

/**
 * The existing home of an agent. An agent has one home only, because it must not use knowledge from one server, or from direct messages, in another.
 * @returns a clause for people; `undefined` without a home
 */
export async function homeOf(
  agentId: string,
  { rosters, dmAgents, settings }: RelayStores,
  except: { readonly guildId: string; readonly key: string } | undefined,
): Promise<string | undefined> {
  for (const [guildId, { agents }] of rosters.all()) {
    for (const [key, agent] of Object.entries(agents)) {
      if (agent.agentId !== agentId || (guildId === except?.guildId && key === except.key)) continue;
      return guildId === except?.guildId
        ? t('This agent lives here already, as `{agent}`.', { agent: agent.name })
        : t('This agent lives in another server.');
    }
  }
  if ((await settings.global.get()).dmAgent === agentId) return t('This agent answers direct messages.');
  return (await dmAgents.ownerOf(agentId)) === undefined
    ? undefined
    : t('This agent answers a member’s direct messages.');
}
