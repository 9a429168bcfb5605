import { ApplicationCommandType, ApplicationIntegrationType } from 'discord-api-types/v10';
import { discordError } from '../errors.js';
import type { CommandChanges, CommandForm } from '../rest/forms/command.js';
import type { LocalApplication } from '../state/application.js';
import type { LocalCommand } from '../state/command.js';
import type { World } from '../state/world.js';

/** Where a command lives: everywhere, or in one guild. */
export interface CommandScope {
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

export function commandsIn({ application, guildId }: CommandScope): CommandMap {
  if (guildId === undefined) return application.globalCommands;
  const present = application.guildCommands.get(guildId);
  if (present) return present;
  const commands: CommandMap = new Map();
  application.guildCommands.set(guildId, commands);
  return commands;
}

/** Creates a command, or overwrites the one of the same name and type. @throws 30032 over the caps of 100, 5 and 5, 30034 over 200 creations a day */
export function upsertCommand(
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
export function overwriteCommands(world: World, scope: CommandScope, forms: readonly CommandForm[]): LocalCommand[] {
  const commands = commandsIn(scope);
  const next = forms.map((form) => toCommand(world, scope, form, findByName(commands, form)));
  checkCaps(next);
  countCreations(world, scope, next.filter((command) => !commands.has(command.id)).length);
  commands.clear();
  for (const command of next) commands.set(command.id, command);
  return next;
}

export function editCommand(world: World, scope: CommandScope, id: string, changes: CommandChanges): LocalCommand {
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

/** Only what is new counts: overwriting with the same names is free, as on Discord. */
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
