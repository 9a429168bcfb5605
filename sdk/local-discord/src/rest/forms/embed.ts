import { z } from 'zod';

/** An embed as a bot sends it, with Discord's limits. See https://discord.com/developers/docs/resources/message#embed-object */

const url = z
  .string()
  .max(2_048)
  .regex(/^(?:https?:\/\/|attachment:\/\/)/);
const media = z.object({ url });

const shape = z.object({
  title: z.string().max(256).exactOptional(),
  description: z.string().max(4_096).exactOptional(),
  url: url.exactOptional(),
  timestamp: z.string().exactOptional(),
  color: z.number().int().min(0).max(0xffffff).exactOptional(),
  footer: z.object({ text: z.string().max(2_048), icon_url: url.exactOptional() }).exactOptional(),
  image: media.exactOptional(),
  thumbnail: media.exactOptional(),
  author: z
    .object({ name: z.string().max(256), url: url.exactOptional(), icon_url: url.exactOptional() })
    .exactOptional(),
  fields: z
    .array(
      z.object({
        name: z.string().min(1).max(256),
        value: z.string().min(1).max(1_024),
        inline: z.boolean().exactOptional(),
      }),
    )
    .max(25)
    .exactOptional(),
});

/** Builders send `null` for what was cleared; Discord takes it as missing. */
export const embedForm = z.preprocess((value) => withoutNulls(value), shape);

function withoutNulls(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutNulls);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, inner]) => (inner === null ? [] : [[key, withoutNulls(inner)]])),
  );
}
