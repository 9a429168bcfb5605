import { createSystemClock } from '@cinnabar/core';
import { type AccessDependencies, createAccess, judge, refusalReasons } from '@cinnabar/core/internal/access/access';
import { decidingRule, ignoringRule } from '@cinnabar/core/internal/access/rules';
import { startLocalDiscord } from '@cinnabar/local-discord';
import {
  type AccessPolicy,
  type AccessRequest,
  type AccessRule,
  type Decision,
  type Identity,
  RULE_SUBJECTS,
  RULE_TARGETS,
} from '@cinnabar/sdk';
import { Client, type GatewayIntentsString } from 'discord.js';
import { memoryGuildStates, memoryOwnerState } from '../../support/guild-states.js';
import { recordingLogger } from '../../support/logs.js';

interface TownOptions extends Partial<Pick<AccessDependencies, 'owners' | 'clock'>> {
  readonly intents?: readonly GatewayIntentsString[];
  readonly team?: boolean;
}

/** A guild of `you`, with alice and bob, on the local Discord; and access with a real client that is logged in there. */
export async function openHarness({
  intents = ['Guilds', 'GuildMembers', 'GuildMessages'],
  team = false,
  ...parts
}: TownOptions = {}) {
  const discord = await startLocalDiscord();
  const [you, alice, bob] = ['you', 'alice', 'bob'].map((name) => discord.createUser({ name }));
  if (you === undefined || alice === undefined || bob === undefined) throw new Error('unreachable');
  const application = discord.createApplication({
    name: 'Cinnabar',
    owner: you,
    ...(team ? { team: { name: 'crew', members: [you, alice] } } : {}),
  });
  const guild = discord.createGuild({ name: 'Night City', owner: you });
  const general = guild.createChannel({ name: 'general' });
  guild.join(alice);
  guild.join(bob);
  guild.invite(application);
  const client = new Client({ intents: [...intents], rest: { api: discord.api } });
  const ready = new Promise<void>((resolve) => client.once('clientReady', () => resolve()));
  await client.login(application.token);
  await ready;
  const log = recordingLogger();
  const states = memoryGuildStates();
  const ownerState = memoryOwnerState();
  const disabled = new Set<string>();
  const identities = new Map<string, Identity>();
  const access = createAccess({
    client,
    states,
    ownerState,
    pluginIn: (_guildId, plugin) => ({ enabled: !disabled.has(plugin), required: plugin === 'admin' }),
    owners: [],
    identities: { get: async (id) => identities.get(id), standing: async () => undefined },
    clock: createSystemClock(),
    log,
    ...parts,
  });
  return {
    discord,
    guild,
    general,
    you,
    alice,
    bob,
    application,
    client,
    states,
    disabled,
    identities,
    access,
    log,
    actor: (user: { readonly id: string }, channelId = general.id) => ({
      userId: user.id,
      guildId: guild.id,
      channelId,
    }),
    async [Symbol.asyncDispose]() {
      await client.destroy();
      await discord.close();
    },
  };
}

/** The facts about a person and a place on which a decision is based. */
export type Standing = Parameters<typeof judge>[0];

/** The decision about any part of a plugin, which may be disabled, or be one that cannot be disabled. */
export function decisionAbout(
  request: AccessRequest,
  standing: Standing,
  plugin = { enabled: true, required: false },
): Decision {
  const reasons = judge(standing, request, plugin);
  return { allowed: reasons.every((reason) => reason.allowed), reasons };
}

/** The decision about a tool of the plugin `raid`, which may be disabled. */
export const decisionOf = (standing: Standing, policy: AccessPolicy, enabled = true): Decision =>
  decisionAbout({ kind: 'tool', name: 'raid', plugin: 'raid', policy }, standing, { enabled, required: false });

/** The reasons that a refused member reads. */
export const wordsOfRefusal = (decision: Decision) => refusalReasons(decision);

/** Ann has the roles Solo and Guest, and is in a thread of the bar, in the category downtown of the city. */
const ann = {
  userId: 'ann',
  hasRole: (id: string) => id === 'solo' || id === 'guest',
  channelIds: ['thread', 'bar'],
  categoryId: 'downtown',
  guildId: 'city',
};
const adding = { kind: 'command', name: 'party add', plugin: 'party' } as const;

/** `deny command party add for role solo` */
function rule(text: string): AccessRule {
  const [, effect, word, name, about, id] = /^(allow|deny) (\w+) ?(.*?) for (\w+) ?(\w*)$/.exec(text) ?? [];
  const subject = RULE_SUBJECTS.find((one) => one === about);
  const kind = RULE_TARGETS.find((one) => one === word);
  if (kind === undefined || subject === undefined || name === undefined) {
    throw new Error(`not a rule: ${text}`);
  }
  return {
    effect: effect === 'allow' ? 'allow' : 'deny',
    target: { kind, name },
    subject: id === '' ? { kind: subject } : { kind: subject, id },
  };
}
const levels = (owner: readonly string[], guild: readonly string[]) => ({
  owner: owner.map(rule),
  guild: guild.map(rule),
});

/** The effect of the owner's and the guild's rules on Ann's `!party add`, as text such as `deny command party add for role solo`. */
export function effectFor(owner: readonly string[], guild: readonly string[]): AccessRule['effect'] | undefined {
  return decidingRule(levels(owner, guild), ann, adding)?.rule.effect;
}

/** The level whose rules make the bot ignore Ann. */
export function whoIgnores(
  owner: readonly string[],
  guild: readonly string[],
  elsewhere: {
    readonly guildId?: string | undefined;
    readonly channelIds?: readonly string[];
    readonly categoryId?: undefined;
  } = {},
): 'owner' | 'guild' | undefined {
  return ignoringRule(levels(owner, guild), { ...ann, ...elsewhere })?.level;
}
