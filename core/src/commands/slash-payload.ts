import { type AccessPolicy, CinnabarError, z } from '@cinnabar/sdk';
import {
  type APIApplicationCommandBasicOption,
  type APIApplicationCommandSubcommandGroupOption,
  type APIApplicationCommandSubcommandOption,
  ApplicationCommandOptionType,
  ApplicationCommandType,
  ApplicationIntegrationType,
  ChannelType,
  InteractionContextType,
  PermissionsBitField,
  type RESTPostAPIChatInputApplicationCommandsJSONBody,
  ApplicationCommandOptionType as Type,
} from 'discord.js';
import type { Localizations } from '../languages/languages.js';
import { fallback, type OptionSpec } from './options.js';
import { type CommandEntry, type Entry, type GroupEntry, leavesOf, MAX_OPTIONS } from './registry.js';

export type CommandPayload = RESTPostAPIChatInputApplicationCommandsJSONBody;

/** A command in the form that Discord expects; `keep` selects commands of a group. */
function commandPayload(
  entry: Entry,
  scope: SlashScope,
  languages: Localizations,
  keep: (command: CommandEntry) => boolean,
): CommandPayload {
  const kept = (command: CommandEntry) => belongs(command, scope) && keep(command);
  return {
    type: ApplicationCommandType.ChatInput,
    name: entry.key,
    ...describedIn(languages, entry.description),
    options: entry.kind === 'command' ? basicOptions(entry, languages) : nested(entry, languages, kept),
    ...(scope === 'guild' ? guildFields(entry.policy) : DM_FIELDS),
  };
}

const DM_FIELDS = {
  contexts: [InteractionContextType.BotDM],
  integration_types: [ApplicationIntegrationType.GuildInstall],
};

/**
 * The permissions without which Discord by default does not show the command; admins of the guild can change this. Access is decided when the command is used.
 */
function guildFields({ tier, member }: AccessPolicy) {
  // A bot's owner who is not an administrator there can use the prefix or direct messages, where Discord hides nothing.
  if (tier === 'guildOwner' || tier === 'botOwner') return { default_member_permissions: '0' };
  return {
    default_member_permissions: member === undefined ? null : PermissionsBitField.resolve([...member]).toString(),
  };
}

function basicOptions(command: CommandEntry, languages: Localizations): APIApplicationCommandBasicOption[] {
  return command.specs.map((spec) => optionPayload(spec, languages));
}

type Nested = APIApplicationCommandSubcommandGroupOption | APIApplicationCommandSubcommandOption;

function nested(group: GroupEntry, languages: Localizations, kept: (command: CommandEntry) => boolean): Nested[] {
  const subcommands = (child: Entry) => (child.kind === 'command' && kept(child) ? [subcommand(child, languages)] : []);
  return group.children.flatMap((child): Nested[] => {
    if (child.kind === 'command') return subcommands(child);
    const options = child.children.flatMap(subcommands);
    const described = describedIn(languages, child.description);
    return options.length === 0
      ? []
      : [{ type: ApplicationCommandOptionType.SubcommandGroup, name: child.key, ...described, options }];
  });
}

function subcommand(command: CommandEntry, languages: Localizations): APIApplicationCommandSubcommandOption {
  return {
    type: ApplicationCommandOptionType.Subcommand,
    name: command.key,
    ...describedIn(languages, command.description),
    options: basicOptions(command, languages),
  };
}

/**
 * A description, and its translations for members with other languages.
 * https://docs.discord.com/developers/interactions/application-commands#localization
 */
function describedIn(languages: Localizations, text: string, value?: string) {
  const others = languages.flatMap(([locale, { translate }]) => {
    const translation = translate(text);
    return translation === undefined ? [] : [[locale, withDefault(translation, value, translate('default'))] as const];
  });
  return {
    description: withDefault(text, value),
    ...(others.length === 0 ? {} : { description_localizations: Object.fromEntries(others) }),
  };
}

/** An option as it is sent for Discord's slash menu. */
function optionPayload(spec: OptionSpec, languages: Localizations): APIApplicationCommandBasicOption {
  const described = describedIn(languages, spec.description, fallback(spec));
  const base = { name: spec.name, ...described, required: spec.required };
  switch (spec.kind) {
    case 'integer':
      return { type: Type.Integer, ...base, ...range(spec) };
    case 'number':
      return { type: Type.Number, ...base, ...range(spec) };
    case 'boolean':
      return { type: Type.Boolean, ...base };
    case 'user':
    case 'member':
      return { type: Type.User, ...base };
    case 'role':
      return { type: Type.Role, ...base };
    case 'channel':
      return {
        type: Type.Channel,
        ...base,
        ...(spec.channelTypes === undefined ? {} : { channel_types: allowedTypes(spec.channelTypes) }),
      };
    case 'attachment':
      return { type: Type.Attachment, ...base };
    case 'choice':
      return { type: Type.String, ...base, ...choices(spec) };
    case 'duration':
      return { type: Type.String, ...base };
    default:
      return {
        type: Type.String,
        ...base,
        ...lengths(spec),
        ...(spec.suggest === undefined ? {} : { autocomplete: true }),
      };
  }
}

/** A directory is the only kind of channel that cannot be an option. */
function allowedTypes(types: readonly ChannelType[]) {
  return types.filter((type) => type !== ChannelType.GuildDirectory);
}

/** Discord has no field for a default, so it is added to the description when there is room. */
function withDefault(description: string, value: string | undefined, word = 'default'): string {
  const text = value === undefined ? description : `${description} (${word}: ${value})`;
  if (text.length <= MAX_DESCRIPTION) return text;
  return description.length <= MAX_DESCRIPTION ? description : `${description.slice(0, MAX_DESCRIPTION - 1)}…`;
}

function range({ min, max }: OptionSpec) {
  return { ...(min === undefined ? {} : { min_value: min }), ...(max === undefined ? {} : { max_value: max }) };
}

function lengths({ min, max }: OptionSpec) {
  return {
    ...(min === undefined || min > MAX_TEXT_LENGTH ? {} : { min_length: min }),
    ...(max === undefined || max > MAX_TEXT_LENGTH || max < 1 ? {} : { max_length: max }),
  };
}

/** Choices that are too many or too long for Discord's list are offered by autocomplete. */
function choices({ choices: all }: OptionSpec) {
  const listable = all.length <= MAX_OPTIONS && all.every(({ label }) => label.length <= MAX_CHOICE_LENGTH);
  return listable
    ? { choices: all.map(({ label }) => ({ name: label, value: label })) }
    : { autocomplete: true as const };
}

/** The commands that are sent to Discord, and those that did not fit. */
export interface Fitted {
  readonly payloads: readonly CommandPayload[];
  /** CINNABAR_COMMAND_CAP for each limit that was exceeded. */
  readonly overflow: readonly CinnabarError[];
}

/**
 * The slash commands of one list, within Discord's limits. The selection is stable: the first hundred commands by name, and the first commands of a group in
 * the order of their declaration. The others work with a prefix only.
 */
export function fitCommands(roots: readonly Entry[], scope: SlashScope, languages: Localizations = []): Fitted {
  const candidates = roots.filter((root) => anyBelongs(root, scope)).sort((a, b) => (a.key < b.key ? -1 : 1));
  const overflow: CinnabarError[] = [];
  const report = (cap: number, kind: string, count: number, names: readonly string[]) => {
    if (names.length === 0) return;
    overflow.push(new CinnabarError('CINNABAR_COMMAND_CAP', { cap, kind, count, names: names.join(', ') }));
  };
  report(MAX_COMMANDS, 'chat input', candidates.length, candidates.slice(MAX_COMMANDS).map(nameOf));
  const payloads = candidates.slice(0, MAX_COMMANDS).flatMap((root) => fitOne(root, scope, languages, report));
  return { payloads, overflow };
}

type Report = (cap: number, kind: string, count: number, names: readonly string[]) => void;

function fitOne(root: Entry, scope: SlashScope, languages: Localizations, report: Report): readonly CommandPayload[] {
  const declared = leavesOf(root).filter((leaf) => belongs(leaf, scope));
  const listed = root.kind === 'command' ? declared : listable(root, scope, report);
  const kept = [...listed];
  const build = () => commandPayload(root, scope, languages, (leaf) => kept.includes(leaf));
  let payload = build();
  const size = sizeOf(payload);
  for (let current = size; kept.length > 0 && current > MAX_CHARACTERS; current = sizeOf(payload)) {
    kept.pop();
    payload = build();
  }
  report(MAX_CHARACTERS, `characters of "${root.key}"`, size, listed.slice(kept.length).map(nameOf));
  return kept.length === 0 ? [] : [payload];
}

/** The commands of a group that fit in its list, and in those of the groups in it. */
function listable(group: GroupEntry, scope: SlashScope, report: Report): readonly CommandEntry[] {
  const children = group.children.filter((child) => anyBelongs(child, scope));
  report(MAX_OPTIONS, `"${group.name}" sub`, children.length, children.slice(MAX_OPTIONS).map(nameOf));
  return children
    .slice(0, MAX_OPTIONS)
    .flatMap((child) => (child.kind === 'command' ? [child] : listable(child, scope, report)));
}

function nameOf(entry: Entry): string {
  return entry.name;
}

/** The length that Discord counts towards the limit of one command: names, descriptions (in the longest language) and choice values, at every level. */
function sizeOf(payload: CommandPayload): number {
  return countIn(payload);
}

const COUNTED: ReadonlySet<string> = new Set(['name', 'value']);

function countIn(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  let sum = 0;
  let longest = 0;
  // Without `Object.entries`, which is slower: every start measures thousands of objects.
  for (const key in value) {
    const item = get(value, key);
    if (key === 'description') longest = Math.max(longest, lengthOf(item));
    else if (key === 'description_localizations')
      for (const text of Object.values(item ?? {})) longest = Math.max(longest, lengthOf(text));
    else if (typeof item === 'object') sum += countIn(item);
    else if (typeof item === 'string' && COUNTED.has(key)) sum += item.length;
  }
  return sum + longest;
}

const lengthOf = (text: unknown) => (typeof text === 'string' ? text.length : 0);

/** https://discord.com/developers/docs/interactions/application-commands#registering-a-command */
const MAX_COMMANDS = 100;
/** Names, descriptions and choice values of one command together. */
const MAX_CHARACTERS = 8000;
const MAX_CHOICE_LENGTH = 100;
const MAX_DESCRIPTION = 100;
/** The maximum length of text that an option can require. */
const MAX_TEXT_LENGTH = 6000;

/** Which of Discord's lists: a guild's, or the global one, which Cinnabar uses for direct messages only. */
export type SlashScope = 'guild' | 'dm';

/** Whether a command belongs in that list. */
function belongs(command: CommandEntry, scope: SlashScope): boolean {
  if (command.surface === 'prefix') return false;
  const where = command.policy.where ?? 'anywhere';
  return where === 'anywhere' || where === scope;
}

/** Whether a command, or any command of a group, belongs in that list. */
function anyBelongs(entry: Entry, scope: SlashScope): boolean {
  return leavesOf(entry).some((leaf) => belongs(leaf, scope));
}

/** The changes that make Discord's list equal to ours: `+roll`, `-ban`, `~roll.options.0.min_value`. */
export function* commandDifferences(
  theirs: readonly NormalCommand[],
  ours: readonly NormalCommand[],
): Generator<string> {
  const wanted = new Map(ours.map((command) => [command.name, command]));
  for (const command of theirs) {
    const counterpart = wanted.get(command.name);
    if (counterpart === undefined) yield `-${command.name}`;
    else yield* differingPaths(`~${command.name}`, command, counterpart);
    wanted.delete(command.name);
  }
  for (const name of wanted.keys()) yield `+${name}`;
}

/** The path at which two values differ: `options.0.min_value`. */
function* differingPaths(path: string, before: unknown, after: unknown): Generator<string> {
  if (Object.is(before, after)) return;
  if (!isComposite(before) || !isComposite(after)) {
    yield path;
    return;
  }
  const keys = new Set([...Object.keys(before), ...Object.keys(after)]);
  for (const key of keys) yield* differingPaths(`${path}.${key}`, get(before, key), get(after, key));
}

function isComposite(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

function get(value: object, key: string): unknown {
  return Reflect.get(value, key);
}

/** A form in which Discord's list and ours can be compared: Discord adds ids and defaults, and leaves out empty values. */
const choice = z.object({ name: z.string(), value: z.union([z.string(), z.number()]) });

const localizations = orElse(z.record(z.string(), z.string()), {});

const leafOption = z.object({
  type: z.number(),
  name: z.string(),
  description: z.string(),
  description_localizations: localizations,
  required: orElse(z.boolean(), false),
  autocomplete: orElse(z.boolean(), false),
  choices: orElse(z.array(choice), []),
  channel_types: orElse(z.array(z.number()), []),
  min_value: orElse(z.number().nullable(), null),
  max_value: orElse(z.number().nullable(), null),
  min_length: orElse(z.number().nullable(), null),
  max_length: orElse(z.number().nullable(), null),
});
const innerOption = leafOption.extend({ options: orElse(z.array(leafOption), []) });
const option = leafOption.extend({ options: orElse(z.array(innerOption), []) });

const command = z.object({
  name: z.string(),
  description: z.string(),
  description_localizations: localizations,
  default_member_permissions: orElse(z.string().nullable(), null),
  contexts: orElse(z.array(z.number()).nullable(), null),
  options: orElse(z.array(option), []),
});

/** A slash command in the form in which two are compared. */
type NormalCommand = z.output<typeof command>;

/** @throws ZodError when it is not a command */
export function normalise(payload: unknown, scope: SlashScope): NormalCommand {
  const normal = command.parse(payload);
  // Contexts apply to global commands only; Discord's values for guild commands are ignored.
  return scope === 'guild' ? { ...normal, contexts: null } : { ...normal, default_member_permissions: null };
}

function orElse<T extends z.ZodType>(schema: T, value: z.output<T>) {
  return schema.nullish().transform((given) => given ?? value);
}
