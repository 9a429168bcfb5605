import {
  type Access,
  asNotice,
  doublingPauses,
  isForbidden,
  isTransient,
  type Logger,
  type ReplyBody,
  retryDiscord,
  type Suggestion,
  sendOnce,
  t,
} from '@cinnabar/sdk';
import {
  ApplicationCommandOptionType,
  type Attachment,
  type AutocompleteInteraction,
  type Channel,
  type ChatInputCommandInteraction,
  type CommandInteractionOption,
  DiscordAPIError,
  type GuildMember,
  type Interaction,
  type Message,
  MessageFlags,
  RESTJSONErrorCodes,
  type SendableChannels,
} from 'discord.js';
import { type Answered, claimed } from '../cluster/claims.js';
import {
  ANSWER_PAUSES_MS,
  type Answers,
  asBody,
  ignoreInteraction,
  notAvailable,
  notice,
  type Part,
  partsOf,
} from './answers.js';
import type { GivenValue } from './arguments.js';
import type { CommandServices } from './commands.js';
import { type Execution, execute, isUnsayable } from './execute.js';
import type { OptionSpec } from './options.js';
import { type CommandEntry, type Entry, type Registry, visibleAmong } from './registry.js';

type Dependencies = Pick<CommandServices, 'enabledIn' | 'boundary' | 'access' | 'languages' | 'claims' | 'log'>;

/** Builds the router of slash commands and autocomplete. It returns `true` when the interaction was one of these. */
export function createInteractionRouter(parts: Dependencies, registry: Registry, execution: Execution) {
  const { enabledIn, boundary, languages, claims, log } = parts;

  return (interaction: Interaction): boolean => {
    const typing = interaction.isAutocomplete();
    if (!typing && !interaction.isChatInputCommand()) return false;
    const { guildId } = interaction;
    const entry = commandOf(interaction, registry.find);
    if (entry === undefined || !enabledIn(guildId, entry.owner.plugin)) {
      // Discord's list, or a member's client, may be out of date for a moment.
      const answer = typing
        ? interaction.respond([])
        : languages.serveInteraction(interaction, () => notice(interaction, notAvailable()));
      Promise.resolve(answer).catch((error: unknown) =>
        log.warn('an unknown slash command could not be answered', { command: interaction.commandName, error }),
      );
      return true;
    }
    void boundary.run(entry.owner, guildId, `command ${entry.name}`, () =>
      typing
        ? languages.serveInteraction(interaction, () => autocomplete(parts, interaction, entry))
        : // The claim comes first, since reading the member's language may take time.
          claims.run(claimed(interaction), () =>
            languages.serveInteraction(interaction, () => runInteraction(execution, interaction, entry, log)),
          ),
    );
    return true;
  };
}

/** Runs the command that a slash interaction names. */
function runInteraction(
  execution: Execution,
  interaction: ChatInputCommandInteraction,
  entry: CommandEntry,
  log: Logger,
): Promise<Answered> {
  return execute(execution, {
    entry,
    source: 'slash',
    prefix: '/',
    actor: { userId: interaction.user.id, guildId: interaction.guildId, channelId: interaction.channelId },
    place: {
      client: interaction.client,
      guild: interaction.guild,
      user: interaction.user,
      attachments: attachmentsOf(interaction),
    },
    message: null,
    answers: answerInteraction(interaction, entry, execution, log),
    channel: () => channelOf(interaction),
    member: () => memberOf(interaction),
    given: () => ({ given: givenBy(interaction) }),
    show: ({ sentence }) => sentence,
  });
}

async function channelOf(interaction: ChatInputCommandInteraction): Promise<Channel> {
  const channel = interaction.channel ?? (await interaction.client.channels.fetch(interaction.channelId));
  if (channel === null) throw new Error(`channel ${interaction.channelId} of a slash command cannot be fetched`);
  return channel;
}

function memberOf(interaction: ChatInputCommandInteraction): GuildMember | null {
  return interaction.inCachedGuild() ? interaction.member : null;
}

/** https://discord.com/developers/docs/interactions/application-commands#application-command-object-application-command-option-choice-structure */
const MAX_SUGGESTIONS = 25;
const MAX_LENGTH = 100;

/** Responds with at most 25 suggestions for what a member is typing; with none when they may not use the command, or after an error. */
async function autocomplete(
  { access, log }: Dependencies,
  interaction: AutocompleteInteraction,
  entry: CommandEntry,
): Promise<void> {
  try {
    await interaction.respond(await suggestionsFor(access, interaction, entry));
  } catch (error) {
    log.warn('suggestions could not be made', { command: entry.name, plugin: entry.owner.id, error });
    if (!interaction.responded) await interaction.respond([]).catch(() => undefined);
  }
}

async function suggestionsFor(
  access: Access,
  interaction: AutocompleteInteraction,
  entry: CommandEntry,
): Promise<readonly Suggestion[]> {
  const { user, guildId, channelId } = interaction;
  const { visible } = await visibleAmong(access, { userId: user.id, guildId, channelId }, [entry]);
  const { name, value } = interaction.options.getFocused(true);
  const spec = entry.specs.find((one) => one.name === name);
  if (visible.length === 0 || spec === undefined) return [];
  const suggestions = (await spec.suggest?.(value, { guildId, userId: user.id })) ?? choicesLike(spec, value);
  return suggestions
    .filter((suggestion) => suggestion.value.length <= MAX_LENGTH)
    .slice(0, MAX_SUGGESTIONS)
    .map((suggestion) => ({ name: suggestion.name.slice(0, MAX_LENGTH), value: suggestion.value }));
}

/** Choices too many for Discord's own list: those that contain what was typed. */
function choicesLike({ choices }: OptionSpec, typed: string): readonly Suggestion[] {
  const folded = typed.toLowerCase();
  return choices
    .filter(({ label }) => label.toLowerCase().includes(folded))
    .map(({ label }) => ({ name: label, value: label }));
}

type SlashInteraction = ChatInputCommandInteraction | AutocompleteInteraction;

/** The command that an interaction names; `undefined` when Discord's list has one that is no longer registered. */
function commandOf(interaction: SlashInteraction, find: (name: string) => Entry | undefined): CommandEntry | undefined {
  const words = [interaction.options.getSubcommandGroup(false), interaction.options.getSubcommand(false)];
  let entry = find(interaction.commandName);
  for (const word of words) {
    if (word !== null) entry = entry?.kind === 'group' ? entry.byName.get(word) : undefined;
  }
  return entry?.kind === 'command' && entry.surface !== 'prefix' ? entry : undefined;
}

/** Values by option, as the option parser takes them: users, roles and channels by id. */
function givenBy(interaction: SlashInteraction): ReadonlyMap<string, GivenValue> {
  return new Map(
    innermost(interaction.options.data).flatMap(({ name, value }) =>
      value === undefined ? [] : [[name, value] as const],
    ),
  );
}

/** Files that came with the interaction, by id. */
function attachmentsOf(interaction: SlashInteraction): ReadonlyMap<string, Attachment> {
  return new Map(
    innermost(interaction.options.data).flatMap(({ attachment }) =>
      attachment === undefined ? [] : [[attachment.id, attachment] as const],
    ),
  );
}

function innermost(options: readonly CommandInteractionOption[]): readonly CommandInteractionOption[] {
  const [first] = options;
  const nested =
    first?.type === ApplicationCommandOptionType.Subcommand ||
    first?.type === ApplicationCommandOptionType.SubcommandGroup;
  return nested ? innermost(first.options ?? []) : options;
}

/** Discord takes the first answer within 3 s, and others for 15 minutes (https://discord.com/developers/docs/interactions/receiving-and-responding). */
const FIRST_WITHIN_MS = 3_000;
const TOKEN_LIVES_MS = 15 * 60_000;
/** Time until an automatic deferral. Leaves one of the three seconds for the request. */
const AUTO_DEFER_MS = 2_000;

/**
 * Answers to a slash command. Defers by itself when there was no answer in time; the first answer fills the deferral, later ones follow up. When Discord fails,
 * an answer is retried while the interaction is valid. After that it is sent in the channel or, when it is for the caller alone, in a direct message.
 */
function answerInteraction(
  interaction: ChatInputCommandInteraction,
  { ephemeral, owner }: CommandEntry,
  { clock, lost }: Execution,
  log: Logger,
): Answers {
  /** Aborts when the command's plugin stops: retries end then. */
  const { signal } = owner.scope;
  const receivedAt = clock.now();
  let filled = false;
  /** Set when Discord does not know the interaction (any more): answers are then sent another way. */
  let over = false;
  let serial = 0;
  /** The messages that were sent as answers. */
  const given = new Set<string>();
  /** Channels in which late answers have been introduced. */
  const introduced = new Set<string>();
  /** The text for the caller when their private answer cannot be sent anywhere. */
  let withheld: Message | undefined;
  let queue: Promise<unknown> = Promise.resolve();

  /** One at a time: an answer never overtakes the pending deferral. */
  const inTurn = <T>(task: () => Promise<T>): Promise<T> => {
    const turn = queue.then(() => lost.attempt(interaction.channelId, task));
    queue = turn.catch(() => undefined);
    return turn;
  };

  const flags = (hidden: boolean) => (hidden ? ({ flags: MessageFlags.Ephemeral } as const) : {});

  /** The first answer. Resolves with `false` when an earlier attempt, whose response was lost or late, has answered already. */
  const acknowledge = async (request: () => Promise<unknown>): Promise<boolean> => {
    const left = receivedAt + FIRST_WITHIN_MS - clock.now();
    try {
      await retryDiscord(clock, request, { signal, pausesMs: doublingPauses(250, 1_000, left) });
      return true;
    } catch (error) {
      if (!isAcknowledged(error)) throw error;
      return false;
    }
  };
  /** Sends a later answer, and retries while the token is valid. */
  const patiently = <T>(request: () => Promise<T>) => {
    const left = receivedAt + TOKEN_LIVES_MS - clock.now();
    return retryDiscord(clock, request, { signal, pausesMs: doublingPauses(1_000, 30_000, left) });
  };

  const deferNow = () =>
    inTurn(async () => {
      if (over || interaction.deferred || interaction.replied) return;
      try {
        if (await acknowledge(() => interaction.deferReply(flags(ephemeral)))) return;
        interaction.deferred = true;
        interaction.ephemeral = ephemeral;
      } catch (error) {
        if (!isUnsayable(error) && !isTransient(error)) throw error;
        over = true;
        log.info('a slash command could not be acknowledged in time', { command: interaction.commandName, error });
      }
    });

  const stopWaiting = clock.after(AUTO_DEFER_MS, () => {
    deferNow().catch((error: unknown) =>
      log.warn('a slash command could not be deferred', { command: interaction.commandName, error }),
    );
  });

  /** Called when Discord already has an answer: this one, or the deferral of a process that has ended, which this answer replaces. */
  const fillIn = async (part: Part, hidden: boolean): Promise<Message> => {
    const present = await patiently(() => interaction.fetchReply());
    const isDeferral = present.flags.has(MessageFlags.Loading);
    interaction.replied = !isDeferral;
    interaction.deferred = isDeferral;
    interaction.ephemeral = isDeferral ? present.flags.has(MessageFlags.Ephemeral) : hidden;
    return isDeferral ? answer(part, hidden) : present;
  };

  const respond = async (part: Part, hidden: boolean): Promise<Message> => {
    let sent: Message | null | undefined;
    const isFirst = await acknowledge(async () => {
      const response = await interaction.reply({ ...part, ...flags(hidden), withResponse: true });
      sent = response.resource?.message;
    });
    if (!isFirst) return fillIn(part, hidden);
    return sent ?? patiently(() => interaction.fetchReply());
  };

  /** Finds an answer whose request failed although Discord had executed it. Not possible for answers to the caller alone, which are in no history. */
  const findFollowUp = async (part: Part): Promise<Message | undefined> => {
    try {
      const since = await interaction.channel?.messages.fetch({ after: interaction.id, limit: 100, cache: false });
      return since?.find(
        ({ id, content, interactionMetadata }) =>
          interactionMetadata?.id === interaction.id && content === (part.content ?? '').trim() && !given.has(id),
      );
    } catch (error) {
      // Slash commands are also used where the bot may not read.
      if (isForbidden(error)) return undefined;
      throw error;
    }
  };
  /** Searches the history for the answer before each retry, since Discord ignores nonces in follow-ups. */
  const sendFollowUp = (part: Part, hidden: boolean): Promise<Message> => {
    let attempts = 0;
    return patiently(async () => {
      attempts += 1;
      const sent = attempts === 1 || hidden ? undefined : await findFollowUp(part);
      return sent ?? interaction.followUp({ ...part, ...flags(hidden) });
    });
  };

  const answer = (part: Part, hidden: boolean): Promise<Message> => {
    if (!interaction.replied && !interaction.deferred) return respond(part, hidden);
    const followUp = () => sendFollowUp(part, hidden);
    if (filled || !interaction.deferred) return followUp();
    filled = true;
    if (interaction.ephemeral === hidden) return patiently(() => interaction.editReply(part));
    // A deferral cannot change its visibility, so another message replaces it.
    return patiently(() => interaction.deleteReply()).then(followUp);
  };

  const send = async (part: Part, hidden: boolean): Promise<Message> => {
    stopWaiting();
    try {
      if (!over) {
        const message = await answer(part, hidden);
        given.add(message.id);
        return message;
      }
    } catch (error) {
      if (signal.aborted || !(isUnsayable(error) || isTransient(error))) throw error;
      over = true;
      log.info('a slash command is answered another way', { command: interaction.commandName, error });
    }
    return hidden ? sendPrivately(part) : sendInChannel(part);
  };

  const sendLate = async (channel: SendableChannels, part: Part): Promise<Message> => {
    const { user, commandName } = interaction;
    const allowedMentions = { parse: [], users: [user.id] };
    const post = (message: Part) => {
      const key = `command:${interaction.id}:${serial}`;
      serial += 1;
      return sendOnce(channel, { ...message, allowedMentions }, key, { clock, signal, pausesMs: ANSWER_PAUSES_MS });
    };
    // A message with the caller and the command precedes the first late answer, which does not refer to the command.
    if (!introduced.has(channel.id)) {
      await post({ content: asNotice(`<@${user.id}> \`/${commandName}\`:`), allowedMentions });
      introduced.add(channel.id);
    }
    return post(part);
  };

  const sendInChannel = async (part: Part): Promise<Message> => {
    const channel = await retryDiscord(clock, () => interaction.client.channels.fetch(interaction.channelId), {
      signal,
      pausesMs: ANSWER_PAUSES_MS,
    });
    if (channel?.isSendable() !== true) throw new Error('there is no way to answer a slash command late');
    return sendLate(channel, part);
  };

  const sendPrivately = async (part: Part): Promise<Message> => {
    if (withheld !== undefined) return withheld;
    try {
      const dm = await patiently(() => interaction.user.createDM());
      return await sendLate(dm, part);
    } catch (error) {
      if (!isForbidden(error)) throw error;
      withheld = await sendInChannel({
        content: asNotice(
          t('Discord did not accept my answer in time. It was for you only, so I do not post it here.'),
        ),
        allowedMentions: { parse: [] },
      });
      return withheld;
    }
  };

  const say = (body: ReplyBody, hidden: boolean) => {
    // Messages that only the caller sees are in no history.
    const [first, ...others] = partsOf(hidden ? { ...body, notice: false } : body, interaction.user.id);
    return inTurn(async () => {
      let last = await send(first, hidden);
      for (const part of others) last = await send(part, hidden);
      return last;
    });
  };

  return {
    reply(reply) {
      const body = asBody(reply);
      return say(body, body.ephemeral ?? ephemeral);
    },
    defer: deferNow,
    async refuse(sentence) {
      await say({ content: sentence }, true);
    },
    async ignore() {
      stopWaiting();
      await inTurn(() => ignoreInteraction(interaction));
    },
    async finish() {
      await queue;
      if (!filled && !interaction.replied && serial === 0) await say({ content: t('Done.') }, true);
    },
    close: stopWaiting,
  };
}

/** Whether Discord refuses an answer because it already has one, whose response was lost. */
const isAcknowledged = (error: unknown): boolean =>
  error instanceof DiscordAPIError && error.code === RESTJSONErrorCodes.InteractionHasAlreadyBeenAcknowledged;
