import { NO_CLAIMS } from '@cinnabar/core/internal/cluster/claims';
import { type ArgumentToken, prefixEnd, readArguments, readToken } from '@cinnabar/core/internal/commands/arguments';
import { createCommands } from '@cinnabar/core/internal/commands/commands';
import { describeOption, typeText, usageOf } from '@cinnabar/core/internal/commands/options';
import { buildCommand, buildGroup, describeOptions } from '@cinnabar/core/internal/commands/registry';
import { commandDifferences, fitCommands, normalise } from '@cinnabar/core/internal/commands/slash-payload';
import { createComponents } from '@cinnabar/core/internal/components/components';
import type { Boundary, CommandService, ComponentService, ResponderService } from '@cinnabar/core/internal/contracts';
import { createBoundary, createInFlight, watchBlockage } from '@cinnabar/core/internal/gateway/boundary';
import { EVERYTHING } from '@cinnabar/core/internal/gateway/partition';
import { watchInteractions } from '@cinnabar/core/internal/gateway/rest';
import { createLanguages } from '@cinnabar/core/internal/languages/languages';
import { createMetrics } from '@cinnabar/core/internal/observability/metrics';
import { createResponders } from '@cinnabar/core/internal/responders/responders';
import {
  type LocalApplication,
  type LocalChannel,
  type LocalDiscord,
  type LocalGuild,
  type LocalMessage,
  type LocalUser,
  startLocalDiscord,
} from '@cinnabar/local-discord';
import type { Access, CommandDefinition, GroupDefinition, OptionShape, z } from '@cinnabar/sdk';
import { createManualClock, type ManualClock } from '@cinnabar/sdk/testing';
import { Client, Events, GatewayIntentBits, Partials } from 'discord.js';
import { type LogEntry, recordingLogger } from '../../../support/logs.js';
import { ownerOf, type Run } from '../../plugins/support/harness.js';

/** A real client on a local Discord, with the services for commands, components and responders. */
export interface Harness extends AsyncDisposable {
  readonly discord: LocalDiscord;
  readonly client: Client<true>;
  readonly clock: ManualClock;
  readonly app: LocalApplication;
  readonly guild: LocalGuild;
  readonly general: LocalChannel;
  /** Owner of the guild, and the only user who passes a tier above `everyone`. */
  readonly you: LocalUser;
  readonly alice: LocalUser;
  readonly commands: CommandService;
  readonly components: ComponentService;
  readonly responders: ResponderService;
  readonly boundary: Boundary;
  readonly logged: readonly LogEntry[];
  /** Current prefixes, which tests may change. */
  prefixes: readonly string[];
  /** Plugins that are disabled everywhere. */
  readonly disabled: Set<string>;
  /** Messages that ran a command, according to `onMessage`. */
  readonly ran: ReadonlySet<string>;
  /** Folders with translation catalogues; empty at first. */
  readonly catalogues: string[];
  owner(id: string): Run;
  settled(): Promise<void>;
  /** Sends a message, and waits until all work is done. @returns the contents of the bot's answers */
  ask(who: LocalUser, content: string, channel?: LocalChannel): Promise<readonly string[]>;
  /** The same as `ask`, with the messages. */
  answers(who: LocalUser, content: string, channel?: LocalChannel): Promise<readonly LocalMessage[]>;
}

const INTENTS = [
  GatewayIntentBits.Guilds,
  GatewayIntentBits.GuildMembers,
  GatewayIntentBits.GuildMessages,
  GatewayIntentBits.DirectMessages,
  GatewayIntentBits.MessageContent,
];

export async function createHarness(): Promise<Harness> {
  const clock = createManualClock();
  const log = recordingLogger();
  const discord = await startLocalDiscord({ clock });
  const you = discord.createUser({ name: 'you' });
  const alice = discord.createUser({ name: 'alice', displayName: 'Alice' });
  const app = discord.createApplication({ name: 'Cinnabar', owner: you });
  const guild = discord.createGuild({ name: 'Night City', owner: you });
  guild.invite(app);
  guild.join(alice);
  const general = guild.createChannel({ name: 'general' });
  const client = await connect(discord, app);
  const inFlight = createInFlight(clock);
  const blockage = watchBlockage(log, inFlight.busy, () => 0);
  const boundary = createBoundary({
    clock,
    log,
    inFlight,
    blockage,
    isDiscordFailure: () => false,
    alert: () => undefined,
  });
  const disabled = new Set<string>();
  const ran = new Set<string>();
  const state = { prefixes: ['!'] as readonly string[], references: 0 };
  const catalogues: string[] = [];
  const parts = {
    owns: EVERYTHING.owns,
    client,
    prefixes: () => state.prefixes,
    enabledIn: (_guildId: string | null, plugin: { manifest: { id: string } }) => !disabled.has(plugin.manifest.id),
    access: ownerAccess(you.id),
    audit: { record: () => undefined },
    boundary,
    claims: NO_CLAIMS,
    languages: createLanguages({ folders: () => catalogues, log }),
    metrics: createMetrics(log).host,
    clock,
    random: { next: () => 0, id: () => `ref${++state.references}` },
    log,
  };
  const commands = createCommands(parts);
  const components = createComponents({ ...parts, interactionRequests: watchInteractions(client.rest) });
  const responders = createResponders({
    enabledIn: parts.enabledIn,
    boundary,
    clock,
    pluginsIdle: async () => undefined,
  });
  client.on(Events.MessageCreate, (message) => {
    if (commands.onMessage(message)) ran.add(message.content);
  });
  client.on(Events.InteractionCreate, (interaction) => {
    if (!commands.onInteraction(interaction)) components.onInteraction(interaction);
  });

  const settled = async () => {
    do {
      await discord.settled();
      await boundary.drained(60_000);
    } while (boundary.inFlight() > 0);
    await discord.settled();
  };
  const answers = async (who: LocalUser, content: string, channel = general) => {
    const before = channel.messagesById.size;
    who.say(channel, content);
    await settled();
    return [...channel.messagesById.values()].slice(before).filter((message) => message.author.id === app.user.id);
  };

  return {
    discord,
    client,
    clock,
    app,
    guild,
    general,
    you,
    alice,
    commands,
    components,
    responders,
    boundary,
    logged: log.entries,
    disabled,
    ran,
    catalogues,
    get prefixes() {
      return state.prefixes;
    },
    set prefixes(prefixes) {
      state.prefixes = prefixes;
    },
    owner: (id) => ownerOf(id, {}, { clock, log }),
    settled,
    answers,
    ask: async (who, content, channel) => (await answers(who, content, channel)).map((message) => message.content),
    async [Symbol.asyncDispose]() {
      blockage.stop();
      await client.destroy();
      await discord.close();
    },
  };
}

async function connect(discord: LocalDiscord, app: LocalApplication): Promise<Client<true>> {
  const rest = { api: discord.api, globalRequestsPerSecond: 10_000 };
  const client = new Client({ intents: INTENTS, partials: [Partials.Channel], rest });
  const ready = new Promise<Client<true>>((resolve) => client.once(Events.ClientReady, resolve));
  await client.login(app.token);
  return ready;
}

/** The simplest rule with a refusal: only one user has tiers. */
function ownerAccess(ownerId: string): Access {
  return {
    decide: async (actor, { policy }) => {
      const needed = policy.tier ?? 'everyone';
      const allowed = needed === 'everyone' || actor.userId === ownerId;
      return { allowed, reasons: [{ rule: 'tier', allowed, text: `you need to be at least ${needed} here` }] };
    },
    ignores: () => false,
    mayEnter: async () => true,
    owners: async () => [],
    tierOf: async (actor) => (actor.userId === ownerId ? 'botOwner' : 'everyone'),
  };
}

const openAccess: Access = {
  decide: async () => ({ allowed: true, reasons: [] }),
  ignores: () => false,
  mayEnter: async () => true,
  owners: async () => [],
  tierOf: async () => 'everyone',
};

const plainBoundary: Boundary = {
  run: (_owner, _guildId, _label, task) => void task(),
  track: (_owner, task) => task(),
  suspend: () => undefined,
  suspended: () => false,
  inFlight: () => 0,
  drained: async () => true,
};

/** A command service that never logs in, for tests of declarations. */
export function offlineCommands(): { readonly service: CommandService; owner(id: string): Run } {
  const clock = createManualClock();
  const log = recordingLogger();
  const service = createCommands({
    owns: EVERYTHING.owns,
    client: new Client({ intents: [] }),
    prefixes: () => ['!'],
    enabledIn: () => true,
    access: openAccess,
    audit: { record: () => undefined },
    boundary: plainBoundary,
    claims: NO_CLAIMS,
    languages: createLanguages({ folders: () => [], log }),
    metrics: createMetrics(log).host,
    clock,
    random: { next: () => 0, id: () => 'reference' },
    log,
  });
  return { service, owner: (id) => ownerOf(id, {}, { clock, log }) };
}

/** Length of the prefix with which a message to this bot begins; 0 without a prefix. */
export function prefixLength(message: string, prefixes: readonly string[], botId: string): number {
  return prefixEnd(message, prefixes, botId);
}

/** The tokens of a message, with their positions. */
export function tokens(source: string): readonly ArgumentToken[] {
  const all: ArgumentToken[] = [];
  for (let token = readToken(source, 0); token !== undefined; token = readToken(source, token.end)) all.push(token);
  return all;
}

/** The parsed value of each option, or the error. */
export function read(shape: OptionShape, source: string, files: readonly string[] = []) {
  const result = readArguments(describeOptions('test', shape), source, 0, files);
  return 'problem' in result ? result.problem : Object.fromEntries(result.given);
}

/** The description of the option `thing`: `<thing> text`; `undefined` for a schema that cannot be typed. */
export function described(schema: z.ZodType): string | undefined {
  const spec = describeOption('thing', schema);
  return spec === undefined ? undefined : `${usageOf(spec)} ${typeText(spec)}`;
}

export function descriptionOf(name: string, schema: z.ZodType): string | undefined {
  return describeOption(name, schema)?.description;
}

/** The commands of the plugin `dice` in Discord's format, in a guild or in direct messages. */
export function toldToDiscord(
  definitions: readonly (CommandDefinition | GroupDefinition)[],
  scope: 'guild' | 'dm' = 'guild',
) {
  const owner = ownerOf('dice');
  const built = definitions.map((one) => ('commands' in one ? buildGroup(owner, one) : buildCommand(owner, one)));
  return fitCommands(built, scope);
}

/** Differences between Discord's list of commands and ours: `+ping`, `~roll.description`. */
export function differences(
  theirs: readonly unknown[],
  ours: readonly unknown[],
  scope: 'guild' | 'dm' = 'guild',
): readonly string[] {
  const inOrder = (commands: readonly unknown[]) => commands.map((one) => normalise(one, scope));
  return [...commandDifferences(inOrder(theirs), inOrder(ours))];
}
