import { z } from 'zod';
import type { MessageDraft, MessageEdit } from '../../actions/message-draft.js';
import type { UploadedFile } from '../../state/attachment.js';
import { componentsForm } from './components.js';
import { embedForm } from './embed.js';
import { snowflake } from './snowflake.js';

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

/** Attachments that stay have their own id; new ones an index into the uploaded files. */
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
