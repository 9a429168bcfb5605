import {
  type APIApplicationCommandOption,
  ApplicationCommandType,
  ApplicationIntegrationType,
  InteractionContextType,
  Locale,
  ApplicationCommandOptionType as T,
} from 'discord-api-types/v10';
import { z } from 'zod';
import { discordError, type FormIssue } from '../errors.js';
import { Created, type RestContext, type Route, route } from '../rest/request.js';
import type { LocalApplication, LocalCommand } from '../state/applications.js';
import type { World } from '../world.js';
import { findGuild } from './find.js';

function scopeOf(context: RestContext): CommandScope {
  const { application, world, user, param } = context;
  if (param('applicationId') !== application.id) throw discordError('unknownApplication');
  const guildId = param('guildId');
  return guildId === '' ? { application } : { application, guildId: findGuild(world, guildId, user).id };
}

function commandOf(context: RestContext) {
  const command = commandsIn(scopeOf(context)).get(context.param('commandId'));
  if (!command) throw discordError('unknownCommand');
  return command;
}

function routesUnder(base: string): Route[] {
  return [
    route('GET', base, (context) => {
      const commands = [...commandsIn(scopeOf(context)).values()];
      return context.query.get('with_localizations') === 'true' ? commands : commands.map(inOneLanguage);
    }),
    route('POST', base, (context) => {
      const { command, created } = upsertCommand(context.world, scopeOf(context), context.form(commandForm));
      return created ? new Created(command) : command;
    }),
    route('PUT', base, (context) => overwriteCommands(context.world, scopeOf(context), context.form(commandListForm))),
    route('GET', `${base}/:commandId`, commandOf),
    route('PATCH', `${base}/:commandId`, (context) => {
      const changes = context.form(commandEditForm);
      return editCommand(context.world, scopeOf(context), context.param('commandId'), changes);
    }),
    route('DELETE', `${base}/:commandId`, (context) => {
      commandsIn(scopeOf(context)).delete(commandOf(context).id);
      return undefined;
    }),
  ];
}

/** A command without its localizations: https://docs.discord.com/developers/interactions/application-commands#retrieving-localized-commands */
function inOneLanguage(declared: unknown): unknown {
  if (Array.isArray(declared)) return declared.map(inOneLanguage);
  if (typeof declared !== 'object' || declared === null) return declared;
  const shown = Object.entries(declared).filter(([key]) => !key.endsWith('_localizations'));
  return Object.fromEntries(shown.map(([key, value]) => [key, inOneLanguage(value)]));
}

/** Global commands and guild commands behave alike. */
export const commandRoutes = [
  ...routesUnder('/applications/:applicationId/commands'),
  ...routesUnder('/applications/:applicationId/guilds/:guildId/commands'),
  route('GET', '/applications/:applicationId/guilds/:guildId/commands/permissions', (context) => {
    scopeOf(context);
    return [];
  }),
];

/** The scope of a command: global, or one guild. */
interface CommandScope {
  application: LocalApplication;
  guildId?: string | undefined;
}

const DAY_MS = 24 * 60 * 60_000;
const CREATIONS_A_DAY = 200;

type CommandMap = Map<string, LocalCommand>;

const CAPS: ReadonlyMap<ApplicationCommandType, number> = new Map([
  [ApplicationCommandType.ChatInput, 100],
  [ApplicationCommandType.User, 5],
  [ApplicationCommandType.Message, 5],
]);

function commandsIn({ application, guildId }: CommandScope): CommandMap {
  if (guildId === undefined) return application.globalCommands;
  const present = application.guildCommands.get(guildId);
  if (present) return present;
  const commands: CommandMap = new Map();
  application.guildCommands.set(guildId, commands);
  return commands;
}

/** Creates a command, or overwrites the one of the same name and type. @throws 30032 over the caps of 100, 5 and 5, 30034 over 200 creations a day */
function upsertCommand(
  world: World,
  scope: CommandScope,
  form: CommandForm,
): { command: LocalCommand; created: boolean } {
  const commands = commandsIn(scope);
  const present = findByName(commands, form);
  const command = toCommand(world, scope, form, present);
  const next = [...[...commands.values()].filter((one) => one !== present), command];
  checkCaps(next);
  if (!present) countCreations(world, scope, 1);
  commands.set(command.id, command);
  return { command, created: !present };
}

/** Replaces all commands of the scope. Commands that keep their name and type keep their id. @throws 30032, 30034 */
function overwriteCommands(world: World, scope: CommandScope, forms: readonly CommandForm[]): LocalCommand[] {
  const commands = commandsIn(scope);
  const next = forms.map((form) => toCommand(world, scope, form, findByName(commands, form)));
  checkCaps(next);
  countCreations(world, scope, next.filter((command) => !commands.has(command.id)).length);
  commands.clear();
  for (const command of next) commands.set(command.id, command);
  return next;
}

function editCommand(world: World, scope: CommandScope, id: string, changes: CommandChanges): LocalCommand {
  const commands = commandsIn(scope);
  const present = commands.get(id);
  if (!present) throw discordError('unknownCommand');
  const name = changes.name ?? present.name;
  const command = toCommand(world, scope, { ...present, ...changes, name, type: present.type }, present);
  commands.set(id, command);
  return command;
}

function findByName(commands: CommandMap, form: CommandForm): LocalCommand | undefined {
  const type = form.type ?? ApplicationCommandType.ChatInput;
  return [...commands.values()].find((command) => command.name === form.name && command.type === type);
}

/** Counts new commands only: overwriting a command of the same name is free, as on Discord. */
function countCreations(world: World, { application, guildId = '' }: CommandScope, count: number): void {
  const since = world.clock.now() - DAY_MS;
  const recent = (application.commandCreations.get(guildId) ?? []).filter((time) => time > since);
  if (recent.length + count > CREATIONS_A_DAY) throw discordError('tooManyCommandCreates');
  const now = world.clock.now();
  application.commandCreations.set(guildId, [...recent, ...Array.from({ length: count }, () => now)]);
}

function checkCaps(commands: readonly LocalCommand[]): void {
  for (const [type, cap] of CAPS) {
    if (commands.filter((command) => command.type === type).length > cap) throw discordError('tooManyCommands');
  }
}

function toCommand(
  world: World,
  scope: CommandScope,
  form: CommandForm,
  present: LocalCommand | undefined,
): LocalCommand {
  const { application, guildId } = scope;
  return {
    id: present?.id ?? world.nextId(),
    application_id: application.id,
    version: world.nextId(),
    type: form.type ?? ApplicationCommandType.ChatInput,
    name: form.name,
    name_localizations: form.name_localizations ?? null,
    description: form.description ?? '',
    description_localizations: form.description_localizations ?? null,
    options: form.options ?? [],
    default_member_permissions: form.default_member_permissions ?? null,
    nsfw: form.nsfw ?? false,
    ...(guildId === undefined
      ? {
          dm_permission: form.dm_permission ?? true,
          contexts: form.contexts ?? null,
          integration_types: form.integration_types ?? [ApplicationIntegrationType.GuildInstall],
        }
      : { guild_id: guildId }),
  };
}

const localizations = (longest: number) =>
  z.partialRecord(z.enum(Locale), z.string().min(1).max(longest).nullable()).nullish();
const localizedDescriptions = localizations(100);

const options = z
  .array(
    z.custom<APIApplicationCommandOption>(isCommandOption, {
      error: 'Invalid option',
      params: { code: 'BASE_TYPE_BAD_TYPE' },
    }),
  )
  .superRefine((list, context) => {
    for (const issue of checkOptions(list)) {
      context.addIssue({ code: 'custom', path: [...issue.path], message: issue.message, params: { code: issue.code } });
    }
  });

const fields = {
  name: z.string().min(1).max(32),
  name_localizations: localizations(32),
  description: z.string().max(100).nullish(),
  description_localizations: localizedDescriptions,
  options: options.nullish(),
  default_member_permissions: z.string().regex(/^\d+$/).nullish(),
  dm_permission: z.boolean().nullish(),
  contexts: z.array(z.enum(InteractionContextType)).nullish(),
  integration_types: z.array(z.enum(ApplicationIntegrationType)).nullish(),
  nsfw: z.boolean().nullish(),
  type: z.enum(ApplicationCommandType).optional(),
};

type CommandForm = z.infer<typeof commandForm>;
type CommandChanges = z.infer<typeof commandEditForm>;

/** A command as a bot registers it. */
const commandForm = z.object(fields).superRefine((command, context) => {
  const chatInput = (command.type ?? ApplicationCommandType.ChatInput) === ApplicationCommandType.ChatInput;
  if (!chatInput) return;
  if (!isChatInputName(command.name)) {
    context.addIssue({
      code: 'custom',
      path: ['name'],
      message: 'Command name is invalid',
      params: { code: 'APPLICATION_COMMAND_INVALID_NAME' },
    });
  }
  if (!command.description) {
    context.addIssue({
      code: 'custom',
      path: ['description'],
      message: 'This field is required',
      params: { code: 'BASE_TYPE_REQUIRED' },
    });
  }
});

const commandListForm = z.array(commandForm).superRefine((commands, context) => {
  const seen = new Set<string>();
  for (const [index, command] of commands.entries()) {
    const key = `${command.type ?? 1}:${command.name}`;
    if (seen.has(key)) {
      const message = 'Application command names must be unique';
      context.addIssue({
        code: 'custom',
        path: [index, 'name'],
        message,
        params: { code: 'APPLICATION_COMMANDS_DUPLICATE_NAME' },
      });
    }
    seen.add(key);
  }
});

const commandEditForm = z.object(fields).partial();

const NAME = /^[-_'\p{L}\p{N}\p{sc=Deva}\p{sc=Thai}]{1,32}$/u;
const CONTAINERS: ReadonlySet<T> = new Set([T.Subcommand, T.SubcommandGroup]);

function isChatInputName(name: string): boolean {
  return NAME.test(name) && name === name.toLowerCase();
}

/** Checks the structure; `checkOptions` checks the content. */
function isCommandOption(value: unknown): value is APIApplicationCommandOption {
  return (
    typeof value === 'object' &&
    value !== null &&
    'type' in value &&
    typeof value.type === 'number' &&
    'name' in value &&
    typeof value.name === 'string' &&
    'description' in value &&
    typeof value.description === 'string'
  );
}

/** Discord's errors about a command's options. See https://discord.com/developers/docs/interactions/application-commands */
function checkOptions(options: readonly APIApplicationCommandOption[]): FormIssue[] {
  const issues: FormIssue[] = [];
  if (options.length > 25) issues.push({ path: [], ...badLength(0, 25) });
  const names = new Set<string>();
  let optionalSeen = false;
  for (const [index, option] of options.entries()) {
    for (const issue of checkOption(option)) issues.push({ ...issue, path: [index, ...issue.path] });
    if (names.has(option.name)) {
      issues.push({
        path: [index],
        code: 'APPLICATION_COMMAND_OPTIONS_NAME_ALREADY_EXISTS',
        message: 'Option name already exists',
      });
    }
    names.add(option.name);
    const optional = !CONTAINERS.has(option.type) && !option.required;
    if (optionalSeen && option.required) {
      const message = 'Required options must be placed before non-required options';
      issues.push({ path: [index], code: 'APPLICATION_COMMAND_OPTIONS_REQUIRED_INVALID', message });
    }
    optionalSeen ||= optional;
  }
  const containers = options.filter((option) => CONTAINERS.has(option.type)).length;
  if (containers > 0 && containers < options.length) {
    const message = 'Sub-command and sub-command group option types are mutually exclusive to all other types';
    issues.push({ path: [], code: 'APPLICATION_COMMAND_OPTIONS_TYPE_INVALID', message });
  }
  return issues;
}

function checkOption(option: APIApplicationCommandOption): FormIssue[] {
  const issues: FormIssue[] = [];
  if (T[option.type] === undefined) {
    issues.push({
      path: ['type'],
      code: 'BASE_TYPE_CHOICES',
      message: 'Value must be one of {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}.',
    });
  }
  if (!isChatInputName(option.name)) {
    issues.push({ path: ['name'], code: 'APPLICATION_COMMAND_INVALID_NAME', message: 'Command name is invalid' });
  }
  if (option.description.length < 1 || option.description.length > 100) {
    issues.push({ path: ['description'], ...badLength(1, 100) });
  }
  if (!localizedDescriptions.safeParse(option.description_localizations).success) {
    issues.push({ path: ['description_localizations'], ...badLength(1, 100) });
  }
  if ('choices' in option && option.choices) issues.push(...checkChoices(option.choices));
  if ('options' in option && option.options) {
    for (const issue of checkOptions(option.options)) issues.push({ ...issue, path: ['options', ...issue.path] });
  }
  return issues;
}

function checkChoices(choices: readonly { name: string; value: string | number }[]): FormIssue[] {
  const issues: FormIssue[] = [];
  if (choices.length > 25) issues.push({ path: ['choices'], ...badLength(0, 25) });
  for (const [index, choice] of choices.entries()) {
    if (choice.name.length < 1 || choice.name.length > 100)
      issues.push({ path: ['choices', index, 'name'], ...badLength(1, 100) });
  }
  return issues;
}

function badLength(min: number, max: number) {
  return { code: 'BASE_TYPE_BAD_LENGTH', message: `Must be between ${min} and ${max} in length.` };
}
