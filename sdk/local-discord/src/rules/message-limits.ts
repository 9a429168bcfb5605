import { MessageFlags } from 'discord-api-types/v10';
import type { MessageDraft, MessageEdit } from '../actions/message-draft.js';
import { discordError, type FormIssue, invalidForm } from '../errors.js';

export const MAX_CONTENT = 2_000;
const MAX_FILES = 10;
const MAX_EMBED_TEXT = 6_000;

/** Throws 50035 with Discord's tree when something is too long or too many. */
export function checkLimits(draft: MessageDraft | MessageEdit): void {
  const issues: FormIssue[] = [];
  if ((draft.content?.length ?? 0) > MAX_CONTENT) {
    issues.push({
      path: ['content'],
      code: 'BASE_TYPE_MAX_LENGTH',
      message: `Must be ${MAX_CONTENT} or fewer in length.`,
    });
  }
  if ((draft.embeds?.length ?? 0) > 10) issues.push(tooMany('embeds', 10));
  if ((draft.files?.length ?? 0) > MAX_FILES) issues.push(tooMany('attachments', MAX_FILES));
  if (embedText(draft) > MAX_EMBED_TEXT) {
    issues.push({
      path: ['embeds'],
      code: 'MAX_EMBED_SIZE_EXCEEDED',
      message: `Embed size exceeds maximum size of ${MAX_EMBED_TEXT}`,
    });
  }
  if (issues.length > 0) throw invalidForm(...issues);
}

/** Throws 50006 when nothing would be shown. */
export function checkNotEmpty(draft: MessageDraft): void {
  const filled =
    (draft.content ?? '').trim() !== '' ||
    (draft.embeds?.length ?? 0) > 0 ||
    (draft.files?.length ?? 0) > 0 ||
    (draft.components?.length ?? 0) > 0;
  if (!filled) throw discordError('emptyMessage');
}

/** Throws 50035 when a message of the new components also carries content or embeds, as Discord does. */
export function checkComponentsV2(flags: number, draft: MessageDraft | MessageEdit): void {
  if (!(flags & MessageFlags.IsComponentsV2)) return;
  for (const field of ['content', 'embeds'] as const) {
    if ((draft[field]?.length ?? 0) > 0) {
      throw invalidForm({
        path: [field],
        code: 'MESSAGE_CANNOT_USE_LEGACY_FIELDS_WITH_COMPONENTS_V2',
        message: `The '${field}' field cannot be used when using MessageFlags.IS_COMPONENTS_V2`,
      });
    }
  }
}

function tooMany(field: string, max: number): FormIssue {
  return { path: [field], code: 'BASE_TYPE_MAX_LENGTH', message: `Must be ${max} or fewer in length.` };
}

function embedText(draft: MessageDraft | MessageEdit): number {
  let length = 0;
  for (const embed of draft.embeds ?? []) {
    const texts = [embed.title, embed.description, embed.footer?.text, embed.author?.name];
    for (const field of embed.fields ?? []) texts.push(field.name, field.value);
    for (const text of texts) length += text?.length ?? 0;
  }
  return length;
}
