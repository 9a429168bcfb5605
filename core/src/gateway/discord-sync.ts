import type { Logger, Manifest, Plugin } from '@cinnabar/sdk';
import type { ClientEvents, GatewayIntentsString } from 'discord.js';
import type { CommandService, GuildStates } from '../contracts.js';
import type { PluginChange, PluginManager } from '../plugins/manager.js';
import type { GatewayClient } from './client.js';

/** Synchronises the bot's intents and slash commands at Discord with the running plugins. */
export function createDiscordSync(
  gateway: GatewayClient,
  plugins: PluginManager,
  commands: CommandService,
  states: GuildStates,
  log: Logger,
  wanted: readonly GatewayIntentsString[],
) {
  const { client } = gateway;
  const inFlight = new Set<Promise<void>>();
  let active = false;

  const setIntents = () => {
    const running = plugins.owners().map((owner) => owner.plugin);
    const prefixCommands = commands.all().some((command) => command.surface !== 'slash');
    gateway.setIntents(unionOfIntents(running, prefixCommands, wanted));
  };
  const start = (what: string, task: () => Promise<void>) => {
    if (!active) return;
    const run = task().catch((error: unknown) => log.error(`${what} failed`, { error }));
    inFlight.add(run);
    void run.finally(() => inFlight.delete(run));
  };
  const onJoin = (guild: { readonly id: string }) =>
    start('the slash commands of a new guild', async () => {
      await states.load(guild.id);
      await commands.sync(guild.id, true);
    });

  return {
    /** Sets the intents that the loaded plugins need. */
    beforeLogin: setIntents,
    /** Prepares the slash commands during the login. */
    async loggingIn(): Promise<void> {
      commands.prepareSync();
    },
    /** Starts the synchronisation with the plugins. */
    loggedIn(): void {
      active = true;
      client.on('guildCreate', onJoin);
      start('bringing the slash commands in line', async () => {
        await states.open();
        await commands.syncAll();
      });
    },
    pluginsChanged({ guildId }: PluginChange): void {
      start('bringing Discord in line with the plugins', async () => {
        setIntents();
        await (guildId === null ? commands.syncAll() : commands.sync(guildId));
      });
    },
    busy: () => inFlight.size > 0,
    async idle(): Promise<void> {
      while (inFlight.size > 0) await Promise.all(inFlight);
    },
    /** Stops starting synchronisations, and waits for those that run. */
    async close(): Promise<void> {
      active = false;
      client.off('guildCreate', onJoin);
      await commands.closeSync();
      await Promise.all(inFlight);
    },
  };
}

/** The intents that prefix commands need. */
const FOR_PREFIX_COMMANDS: readonly GatewayIntentsString[] = ['GuildMessages', 'DirectMessages', 'MessageContent'];

/** The union of the intents that the plugins and the owner request, sorted. Always includes `Guilds`, without which Discord sends no servers. */
export function unionOfIntents(
  plugins: Iterable<Plugin>,
  prefixCommands: boolean,
  wanted: readonly GatewayIntentsString[] = [],
): readonly GatewayIntentsString[] {
  const union = new Set<GatewayIntentsString>(['Guilds', ...wanted]);
  if (prefixCommands) for (const intent of FOR_PREFIX_COMMANDS) union.add(intent);
  for (const plugin of plugins) for (const intent of plugin.manifest.intents ?? []) union.add(intent);
  return [...union].sort();
}

type Intents = readonly GatewayIntentsString[];

const MESSAGES: Intents = ['GuildMessages', 'DirectMessages'];
const REACTIONS: Intents = ['GuildMessageReactions', 'DirectMessageReactions'];
const POLLS: Intents = ['GuildMessagePolls', 'DirectMessagePolls'];

/**
 * The intents with which Discord sends an event: any one of them is enough. Events that need none are left out.
 * (https://docs.discord.com/developers/events/gateway#gateway-intents)
 */
const BRINGING: Partial<Readonly<Record<keyof ClientEvents, Intents>>> = {
  ...of(['Guilds'], 'guildCreate', 'guildUpdate', 'guildDelete', 'roleCreate', 'roleUpdate', 'roleDelete'),
  ...of(['Guilds'], 'channelCreate', 'channelUpdate', 'channelDelete', 'threadCreate', 'threadUpdate', 'threadDelete'),
  ...of(
    ['Guilds'],
    'threadListSync',
    'threadMemberUpdate',
    'stageInstanceCreate',
    'stageInstanceUpdate',
    'stageInstanceDelete',
  ),
  ...of(['Guilds', 'DirectMessages'], 'channelPinsUpdate'),
  ...of(['Guilds', 'GuildMembers'], 'threadMembersUpdate'),
  ...of(['GuildMembers'], 'guildMemberAdd', 'guildMemberUpdate', 'guildMemberRemove'),
  ...of(['GuildModeration'], 'guildBanAdd', 'guildBanRemove', 'guildAuditLogEntryCreate'),
  ...of(
    ['GuildExpressions'],
    'emojiCreate',
    'emojiUpdate',
    'emojiDelete',
    'stickerCreate',
    'stickerUpdate',
    'stickerDelete',
  ),
  ...of(['GuildIntegrations'], 'guildIntegrationsUpdate'),
  ...of(['GuildWebhooks'], 'webhooksUpdate'),
  ...of(['GuildInvites'], 'inviteCreate', 'inviteDelete'),
  ...of(['GuildVoiceStates'], 'voiceStateUpdate'),
  ...of(['GuildPresences'], 'presenceUpdate'),
  ...of(MESSAGES, 'messageCreate', 'messageUpdate', 'messageDelete'),
  ...of(['GuildMessages'], 'messageDeleteBulk'),
  ...of(
    REACTIONS,
    'messageReactionAdd',
    'messageReactionRemove',
    'messageReactionRemoveAll',
    'messageReactionRemoveEmoji',
  ),
  ...of(['GuildMessageTyping', 'DirectMessageTyping'], 'typingStart'),
  ...of(
    ['GuildScheduledEvents'],
    'guildScheduledEventCreate',
    'guildScheduledEventUpdate',
    'guildScheduledEventDelete',
    'guildScheduledEventUserAdd',
    'guildScheduledEventUserRemove',
  ),
  ...of(
    ['AutoModerationConfiguration'],
    'autoModerationRuleCreate',
    'autoModerationRuleUpdate',
    'autoModerationRuleDelete',
  ),
  ...of(['AutoModerationExecution'], 'autoModerationActionExecution'),
  ...of(POLLS, 'messagePollVoteAdd', 'messagePollVoteRemove'),
};

function of<K extends keyof ClientEvents>(intents: Intents, ...events: readonly K[]) {
  return Object.fromEntries(events.map((event) => [event, intents]));
}

/**
 * The intents that a manifest lacks for a listener to receive its event, as a sentence for the author; `undefined` when none is missing.
 * @example missingIntent('guildMemberAdd', {…}) // 'it listens to guildMemberAdd, which Discord sends … : add to its manifest intents: ["Guilds",
 * "GuildMembers"]'
 */
export function missingIntent(
  event: keyof ClientEvents,
  { intents = [], optionalIntents = [] }: Pick<Manifest, 'intents' | 'optionalIntents'>,
): string | undefined {
  const bringing = BRINGING[event];
  const [first] = bringing ?? [];
  if (bringing === undefined || first === undefined) return undefined;
  if (bringing.some((intent) => intents.includes(intent) || optionalIntents.includes(intent))) return undefined;
  const line = `intents: [${[...intents, first].map((intent) => `'${intent}'`).join(', ')}]`;
  return `it listens to ${event}, which Discord sends only with the intent ${bringing.join(' or ')}: its manifest needs ${line}`;
}
