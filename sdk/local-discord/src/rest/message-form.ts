import { createHash } from 'node:crypto';
import type { APIMessageTopLevelComponent } from 'discord-api-types/v10';
import { z } from 'zod';
import { checkComponents } from '../rules/components.js';
import type { MessageDraft, MessageEdit } from '../rules/messages.js';
import type { UploadedFile } from '../state/messages.js';

/** An id in a request body: decimal digits, in a string or a number. */
export const snowflake = z.union([z.string(), z.number().transform(String)]).refine((id) => /^\d{1,20}$/.test(id), {
  params: { code: 'NUMBER_TYPE_COERCE' },
  error: (issue) => `Value "${String(issue.input)}" is not snowflake.`,
});

/** A picture in a request body (https://docs.discord.com/developers/reference#image-data). */
export const imageData = z.string().regex(/^data:image\/(?:png|jpeg|gif|webp);base64,[A-Za-z0-9+/]+=*$/);

/** The hash that identifies a picture on the CDN. */
export function imageHash(data: string): string {
  return createHash('sha256').update(data).digest('hex').slice(0, 32);
}

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

/** Builders send `null` for removed values; Discord treats `null` as missing. */
const embedForm = z.preprocess((value) => withoutNulls(value), shape);

function withoutNulls(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutNulls);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, inner]) => (inner === null ? [] : [[key, withoutNulls(inner)]])),
  );
}

function isComponent(value: unknown): value is APIMessageTopLevelComponent {
  return typeof value === 'object' && value !== null && 'type' in value && typeof value.type === 'number';
}

/** Top-level components, with Discord's limits. */
const componentsForm = z
  .array(
    z.custom<APIMessageTopLevelComponent>(isComponent, {
      error: 'Invalid component',
      params: { code: 'UNION_TYPE_CHOICES' },
    }),
  )
  .superRefine((components, context) => {
    for (const issue of checkComponents(components)) {
      context.addIssue({ code: 'custom', path: [...issue.path], message: issue.message, params: { code: issue.code } });
    }
  });

const allowedMentions = z.object({
  parse: z.array(z.enum(['users', 'roles', 'everyone'])).optional(),
  users: z.array(snowflake).optional(),
  roles: z.array(snowflake).optional(),
  replied_user: z.boolean().optional(),
});

const common = {
  embeds: z.array(embedForm).nullish(),
  components: componentsForm.nullish(),
  flags: z.number().int().nullish(),
  allowed_mentions: allowedMentions.nullish(),
};

/** Existing attachments are referred to by their id, new ones by their index in the uploaded files. */
const attachmentRefs = z.array(z.object({ id: z.union([z.string(), z.number()]) }));

export const messageForm = z.object({
  ...common,
  content: z.union([z.string(), z.number().transform(String)]).nullish(),
  tts: z.boolean().nullish(),
  nonce: z.union([z.string().max(25), z.number()]).nullish(),
  enforce_nonce: z.boolean().nullish(),
  message_reference: z.object({ message_id: snowflake, fail_if_not_exists: z.boolean().nullish() }).nullish(),
});

export const messageEditForm = z.object({
  ...common,
  content: z.union([z.string(), z.number().transform(String)]).nullish(),
  attachments: attachmentRefs.nullish(),
});

export function toDraft(form: z.infer<typeof messageForm>, files: readonly UploadedFile[]): MessageDraft {
  return {
    content: form.content ?? undefined,
    embeds: form.embeds ?? undefined,
    components: form.components ?? undefined,
    files,
    flags: form.flags ?? undefined,
    tts: form.tts ?? undefined,
    nonce: form.nonce ?? undefined,
    enforceNonce: form.enforce_nonce ?? undefined,
    allowedMentions: form.allowed_mentions ?? undefined,
    replyTo: form.message_reference
      ? {
          messageId: form.message_reference.message_id,
          failIfMissing: form.message_reference.fail_if_not_exists ?? true,
        }
      : undefined,
  };
}

export function toEdit(form: z.infer<typeof messageEditForm>, files: readonly UploadedFile[]): MessageEdit {
  return {
    content: form.content,
    embeds: form.embeds,
    components: form.components,
    files,
    flags: form.flags ?? undefined,
    allowedMentions: form.allowed_mentions ?? undefined,
    keepAttachments: form.attachments?.map((one) => String(one.id)),
  };
}

/** An embed as a bot sends it, with Discord's limits. See https://discord.com/developers/docs/resources/message#embed-object */
