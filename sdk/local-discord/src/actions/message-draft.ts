import type { APIEmbed, APIMessageTopLevelComponent } from 'discord-api-types/v10';
import type { AllowedMentions } from '../rules/mentions.js';
import type { UploadedFile } from '../state/attachment.js';

/** A message before it is one; shared by REST, webhooks, interaction answers and the user side. */
export interface MessageDraft {
  /** A new one unless told. The first message of a forum post has the id of its thread. */
  id?: string | undefined;
  content?: string | undefined;
  embeds?: APIEmbed[] | undefined;
  components?: APIMessageTopLevelComponent[] | undefined;
  files?: readonly UploadedFile[] | undefined;
  flags?: number | undefined;
  tts?: boolean | undefined;
  nonce?: string | number | undefined;
  enforceNonce?: boolean | undefined;
  allowedMentions?: AllowedMentions | undefined;
  replyTo?: { messageId: string; failIfMissing: boolean } | undefined;
}

/** What an edit changes; what is missing stays. */
export interface MessageEdit {
  content?: string | null | undefined;
  embeds?: APIEmbed[] | null | undefined;
  components?: APIMessageTopLevelComponent[] | null | undefined;
  files?: readonly UploadedFile[] | undefined;
  /** Ids of the attachments that stay. */
  keepAttachments?: readonly string[] | undefined;
  flags?: number | undefined;
  allowedMentions?: AllowedMentions | undefined;
}
