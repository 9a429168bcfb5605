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
  /** At the Letta server. */
  agentId: z.string(),
  /** As admins wrote it; its key is the same in lower case. */
  name: z.string(),
  /** Where it answers in preference to others; everywhere else the default agent does. */
  channels: z.array(z.string()).default([]),
  /** Address of its picture; the bot's own where there is none. */
  avatar: z.string().optional(),
});

/** A guild's agents, and what reaches them. Known everywhere: an agent has one home. */
export const rosters = {
  scope: 'guild',
  version: 1,
  shared: true,
  schema: z.object({
    enabled: z.boolean().default(false),
    paused: z.boolean().default(false),
    agents: z.record(z.string(), agent).default({}),
    defaultAgent: z.string().optional(),
    /** By channel; `mention` where there is none. */
    modes: z.record(z.string(), z.enum(CHANNEL_MODES)).default({}),
  }),
} as const;

export type Roster = z.output<typeof rosters.schema>;
export type GuildAgent = Roster['agents'][string];

export type Rosters = Awaited<ReturnType<typeof openRosters>>;

/** Every guild's roster, in memory, so that a message that is for no agent costs one look-up. It is updated when another process changes it. */
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
    /** `undefined` when no admin has configured agents. */
    of: (guildId: string): Roster | undefined => known.get(guildId),
    /** Where agents are switched on. */
    enabled(guildId: string | null): Roster | undefined {
      const roster = guildId === null ? undefined : known.get(guildId);
      return roster?.enabled === true ? roster : undefined;
    },
    /** Written before it takes effect. */
    async update(guildId: string, change: (draft: Roster) => unknown): Promise<Roster> {
      const roster = await stored.of(guildId).update(change);
      known.set(guildId, roster);
      return roster;
    },
    all: (): Iterable<readonly [guildId: string, roster: Roster]> => known.entries(),
  };
}

/** @param places the channel, then the ones that it belongs to */
export function modeOf({ modes }: Roster, places: readonly string[]): ChannelMode {
  return places.map((id) => modes[id]).find((mode) => mode !== undefined) ?? 'mention';
}

export interface Chosen {
  /** Its key in the roster. */
  readonly key: string;
  readonly agent: GuildAgent;
}

/**
 * The agent of a guild that a message is for: the one that it names, otherwise that of the channel, otherwise the default.
 * @param places the channel, then its parents
 */
export function chooseAgent(roster: Roster, places: readonly string[], text: string): Chosen | undefined {
  return namedIn(roster, text) ?? ofChannel(roster, places) ?? byKey(roster, roster.defaultAgent);
}

/**
 * The agent that a text is addressed to: by its name at the beginning, after a greeting or an @, or set off by a comma at the end. A name that
 * merely occurs, as "max" in "the max level", addresses no one. Of two that fit in the same place the longer one.
 * @param isForBot whether the text was said to the bot; in other texts a name at the beginning has to be set off, too: "max, are you there?"
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

/** Every message in a guild with agents is looked at. */
const addresses = new Map<string, RegExp>();

/** Names are made of letters, digits, `-` and `_`, so only the hyphen means anything in an expression. */
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

/** The name and picture under which a guild's agents post: their own, when members have several to distinguish, or as the guild has set. */
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

/** The agent that an event is for, by the settings of this moment. */
export interface Target {
  readonly agentId: string;
  /** As whom it acts. */
  readonly identity: string;
  /** For people. */
  readonly name: string;
  /** The member for whom it acts: the one who caused the event, otherwise the one who added the agent. */
  readonly userId: string | undefined;
  /** The channels that it has been let into. */
  readonly channels: IdentityGrant['channels'];
  /** Names of the tools that it was granted. */
  readonly granted: ReadonlySet<string>;
}

/**
 * The agent of an event. Looked up at the delivery, so that a change of the settings also holds for what is queued.
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

/** Grants the agent of direct messages the conversation of an event, and no other one. */
export async function grantConversation(
  identities: Identities,
  { identity, name }: Target,
  event: RelayEvent,
): Promise<void> {
  if (event.guildId !== null || event.userId === null) return;
  await saveGrant(identities, identity, name, directGrant(event.userId, event.channelId));
}

/** The stored settings of a person's direct messages. */
export const directs = {
  scope: 'user',
  version: 1,
  shared: true,
  schema: z.object({
    /** Their own agent, assigned by the owner of the bot. */
    agentId: z.string().optional(),
    /** Whether they have been asked for their consent. */
    asked: z.boolean().default(false),
  }),
} as const;
export type DmAgents = ReturnType<typeof createDmAgents>;

/** Which agent answers the direct messages of a person: their own, or the shared one. */
export function createDmAgents({ collections: { directs: stored }, settings }: RelayContext) {
  return {
    /** @returns the agent with the key by which events name it; `undefined` when there is none */
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
 * The existing home of an agent. It has one home only: knowledge from a server must not be used in another, nor knowledge from direct messages.
 * @returns a clause for people, `undefined` when it has none
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
