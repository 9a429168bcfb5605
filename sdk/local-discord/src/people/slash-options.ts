import {
  type APIApplicationCommandInteractionDataBasicOption,
  type APIApplicationCommandOption,
  type InteractionType,
  ApplicationCommandOptionType as T,
} from 'discord-api-types/v10';
import type { Referred } from '../payload/interactions.js';
import { storeFile } from '../resources/attachments.js';
import { LocalChannel } from '../state/channels.js';
import { isRole } from '../state/guilds.js';
import { isUser, type OptionValue } from '../state/users.js';
import type { World } from '../world.js';

type BasicOption = APIApplicationCommandInteractionDataBasicOption<InteractionType.ApplicationCommand>;

interface OptionContext {
  world: World;
  channel: LocalChannel;
  referred: Referred;
}

/** Converts the given values into Discord's payload, with the checks of the Discord client. Throws a plain Error. */
export function fillOptions(
  context: OptionContext,
  declared: readonly APIApplicationCommandOption[],
  given: Readonly<Record<string, OptionValue>>,
  lenient = false,
): BasicOption[] {
  for (const name of Object.keys(given)) {
    if (!declared.some((option) => option.name === name)) {
      throw new Error(`No option "${name}"; there are: ${declared.map((option) => option.name).join(', ') || 'none'}.`);
    }
  }
  return declared.flatMap((option) => {
    const value = given[option.name];
    if (value !== undefined) return [fillOption(context, option, value)];
    if (option.required && !lenient) throw new Error(`The option "${option.name}" is required.`);
    return [];
  });
}

function fillOption(context: OptionContext, option: APIApplicationCommandOption, value: OptionValue): BasicOption {
  const { name } = option;
  switch (option.type) {
    case T.String:
      if (typeof value !== 'string') throw unfit(option, 'text');
      checkChoice(option, value);
      checkRange(option, value.length, option.min_length, option.max_length);
      return { name, type: T.String, value };
    case T.Integer:
    case T.Number:
      if (typeof value !== 'number') throw unfit(option, 'a number');
      if (option.type === T.Integer && !Number.isInteger(value)) throw unfit(option, 'a whole number');
      checkChoice(option, value);
      checkRange(option, value, option.min_value, option.max_value);
      return option.type === T.Integer ? { name, type: T.Integer, value } : { name, type: T.Number, value };
    case T.Boolean:
      if (typeof value !== 'boolean') throw unfit(option, 'true or false');
      return { name, type: T.Boolean, value };
    case T.Attachment:
      return { name, type: T.Attachment, value: upload(context, option, value) };
    default:
      return pointAt(context, option, value);
  }
}

/** Options whose value is an id. */
function pointAt({ referred }: OptionContext, option: APIApplicationCommandOption, value: OptionValue): BasicOption {
  const { name } = option;
  if (isUser(value) && (option.type === T.User || option.type === T.Mentionable)) {
    referred.users.add(value);
    return option.type === T.User
      ? { name, type: T.User, value: value.id }
      : { name, type: T.Mentionable, value: value.id };
  }
  if (isRole(value) && (option.type === T.Role || option.type === T.Mentionable)) {
    referred.roles.add(value);
    return option.type === T.Role
      ? { name, type: T.Role, value: value.id }
      : { name, type: T.Mentionable, value: value.id };
  }
  if (value instanceof LocalChannel && option.type === T.Channel) {
    const allowed = option.channel_types;
    if (allowed && !allowed.some((type) => type === value.type)) throw unfit(option, 'a channel of another type');
    referred.channels.add(value);
    return { name, type: T.Channel, value: value.id };
  }
  throw unfit(option, T[option.type]?.toLowerCase() ?? 'something else');
}

function upload(
  { world, channel, referred }: OptionContext,
  option: APIApplicationCommandOption,
  value: OptionValue,
): string {
  if (typeof value !== 'object' || !('data' in value)) throw unfit(option, 'a file');
  const file = storeFile(world, channel, value, true);
  referred.attachments.add(file);
  return file.id;
}

function checkChoice(option: APIApplicationCommandOption, value: string | number): void {
  if (!('choices' in option) || !option.choices || option.choices.length === 0) return;
  if (option.choices.some((choice) => choice.value === value)) return;
  throw new Error(
    `"${value}" is no choice of "${option.name}"; there are: ${option.choices.map((choice) => choice.value).join(', ')}.`,
  );
}

function checkRange(
  option: APIApplicationCommandOption,
  value: number,
  min: number | undefined,
  max: number | undefined,
): void {
  if (value < (min ?? -Infinity) || value > (max ?? Infinity)) {
    throw new Error(`"${option.name}" must be from ${min ?? 'anything'} to ${max ?? 'anything'}.`);
  }
}

function unfit(option: APIApplicationCommandOption, wanted: string): Error {
  return new Error(`The option "${option.name}" takes ${wanted}.`);
}
