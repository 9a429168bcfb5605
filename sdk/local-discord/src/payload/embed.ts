import { type APIEmbed, EmbedType } from 'discord-api-types/v10';

/** An embed as Discord returns it: with its type, and each field saying whether it stands in line. */
export function embedPayload(embed: APIEmbed): APIEmbed {
  return {
    ...embed,
    type: EmbedType.Rich,
    ...(embed.fields ? { fields: embed.fields.map((field) => ({ ...field, inline: field.inline ?? false })) } : {}),
  };
}
