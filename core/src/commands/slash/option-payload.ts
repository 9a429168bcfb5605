import { type APIApplicationCommandBasicOption, ChannelType, ApplicationCommandOptionType as Type } from 'discord.js';
import type { OptionSpec } from '../options/spec.js';
import { fallback } from '../options/usage.js';
import { MAX_CHOICE_LENGTH, MAX_DESCRIPTION, MAX_OPTIONS, MAX_TEXT_LENGTH } from './limits.js';

/** An option as Discord's slash menu is told of it. */
export function optionPayload(spec: OptionSpec): APIApplicationCommandBasicOption {
  const base = { name: spec.name, description: described(spec), required: spec.required };
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

/** A directory is the one kind that cannot be an option. */
function allowedTypes(types: readonly ChannelType[]) {
  return types.filter((type) => type !== ChannelType.GuildDirectory);
}

/** Discord has no field for a default, so the description tells it where it fits. */
function described(spec: OptionSpec): string {
  const value = fallback(spec);
  const text = value === undefined ? spec.description : `${spec.description} (default: ${value})`;
  return text.length <= MAX_DESCRIPTION ? text : spec.description;
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

/** More choices than Discord lists, or longer ones, are suggested while the member types. */
function choices({ choices: all }: OptionSpec) {
  const listable = all.length <= MAX_OPTIONS && all.every(({ label }) => label.length <= MAX_CHOICE_LENGTH);
  return listable
    ? { choices: all.map(({ label }) => ({ name: label, value: label })) }
    : { autocomplete: true as const };
}
