import type { Access, Clock, Logger, Suggestion } from '@cinnabar/sdk';
import {
  ApplicationCommandOptionType,
  type Attachment,
  type AutocompleteInteraction,
  type Channel,
  type ChatInputCommandInteraction,
  type CommandInteractionOption,
  type GuildMember,
  type Interaction,
} from 'discord.js';
import { notice } from '../answers/answers.js';
import { answerInteraction } from '../answers/slash.js';
import type { CommandServices } from '../commands.js';
import { visibleAmong } from '../directory.js';
import type { GivenValue } from '../options/convert.js';
import type { OptionSpec } from '../options/describe.js';
import type { CommandEntry, Entry, Registry } from '../registry.js';
import { type Execution, execute } from './execute.js';

export const NOT_AVAILABLE = 'That command is not available here at the moment.';

type Parts = Pick<CommandServices, 'enabledIn' | 'boundary' | 'access' | 'clock' | 'log'>;

/** Builds the router of slash commands and of what is suggested while one is typed. `true` when the interaction was one of these. */
export function createInteractionRouter(parts: Parts, registry: Registry, execution: Execution) {
  const { enabledIn, boundary, clock, log } = parts;

  return (interaction: Interaction): boolean => {
    const typing = interaction.isAutocomplete();
    if (!typing && !interaction.isChatInputCommand()) return false;
    const { guildId } = interaction;
    const entry = commandOf(interaction, registry.find);
    if (entry === undefined || !enabledIn(guildId, entry.owner.plugin)) {
      // Discord's list is behind ours for a moment, or a member's client is.
      const answer = typing ? interaction.respond([]) : notice(interaction, NOT_AVAILABLE);
      answer.catch((error: unknown) =>
        log.warn('an unknown slash command could not be answered', { command: interaction.commandName, error }),
      );
      return true;
    }
    void boundary.run(entry.owner, guildId, `command ${entry.name}`, () =>
      typing ? autocomplete(parts, interaction, entry) : runInteraction({ execution, clock, log }, interaction, entry),
    );
    return true;
  };
}

interface InteractionParts {
  readonly execution: Execution;
  readonly clock: Clock;
  readonly log: Logger;
}

/** Runs the command that a slash interaction names. */
function runInteraction(
  { execution, clock, log }: InteractionParts,
  interaction: ChatInputCommandInteraction,
  entry: CommandEntry,
): Promise<void> {
  const { lost } = execution;
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
    answers: answerInteraction(interaction, {
      clock,
      log,
      lost,
      signal: entry.owner.scope.signal,
      ephemeral: entry.ephemeral,
    }),
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

interface AutocompleteParts {
  readonly access: Access;
  readonly log: Logger;
}

/** Answers what a member is typing: at most 25 suggestions, none to those who may not use the command, none when something goes wrong. */
async function autocomplete(
  { access, log }: AutocompleteParts,
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

/** The command that an interaction names; `undefined` when Discord knows one that is registered no longer. */
function commandOf(interaction: SlashInteraction, find: (name: string) => Entry | undefined): CommandEntry | undefined {
  const words = [interaction.options.getSubcommandGroup(false), interaction.options.getSubcommand(false)];
  let entry = find(interaction.commandName);
  for (const word of words) {
    if (word !== null) entry = entry?.kind === 'group' ? entry.byName.get(word) : undefined;
  }
  return entry?.kind === 'command' && entry.surface !== 'prefix' ? entry : undefined;
}

/** Values by option, as the parser of options takes them: things with an id as that id. */
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
