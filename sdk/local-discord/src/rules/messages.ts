import {
  type APIEmbed,
  type APIMessageTopLevelComponent,
  GatewayIntentBits,
  MessageFlags,
  PermissionFlagsBits,
} from 'discord-api-types/v10';
import { discordError, type FormIssue, invalidForm } from '../errors.js';
import type { GatewaySession } from '../gateway/session.js';
import type { MessageViewer } from '../payload/messages.js';
import type { LocalApplication } from '../state/applications.js';
import type { LocalChannel } from '../state/channels.js';
import type { LocalRole } from '../state/guilds.js';
import type { EmojiRef, LocalMessage, Mentions, UploadedFile } from '../state/messages.js';
import type { LocalUser } from '../state/users.js';

import type { World } from '../world.js';

/**
 * Whether the bot reads the message's content without MessageContent: its own messages, DMs, and messages that mention it. It receives all others without
 * content.
 */
function concerns(message: LocalMessage, application: LocalApplication): boolean {
  return (
    message.channel.isDm ||
    message.author.id === application.id ||
    message.applicationId === application.id ||
    message.mentions.users.includes(application.user)
  );
}

/** Content in REST responses depends on the application's setting. */
export function restViewer(application: LocalApplication): MessageViewer {
  const all = application.privilegedIntents.has('MessageContent');
  return { userId: application.id, content: (message) => all || concerns(message, application) };
}

/** Content in gateway events depends on the session's intents. */
export function sessionViewer(session: GatewaySession): MessageViewer {
  const all = (session.intents & GatewayIntentBits.MessageContent) !== 0;
  return { userId: session.application.id, content: (message) => all || concerns(message, session.application) };
}

/** Content in responses about an application's own webhooks and interactions is always included. */
export function fullViewer(userId: string): MessageViewer {
  return { userId, content: () => true };
}

const MAX_CONTENT = 2_000;
const MAX_FILES = 10;
const MAX_EMBED_TEXT = 6_000;

/** @throws 50035 with Discord's error tree when a text is too long or there are too many elements */
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

/** @throws 50006 for an empty message */
export function checkNotEmpty(draft: MessageDraft): void {
  const filled =
    (draft.content ?? '').trim() !== '' ||
    (draft.embeds?.length ?? 0) > 0 ||
    (draft.files?.length ?? 0) > 0 ||
    (draft.components?.length ?? 0) > 0;
  if (!filled) throw discordError('emptyMessage');
}

/** @throws 50035 for a message of the new components that also has content or embeds */
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

/** `allowed_mentions` of a message. See https://discord.com/developers/docs/resources/message#allowed-mentions-object */
interface AllowedMentions {
  parse?: readonly string[] | undefined;
  users?: readonly string[] | undefined;
  roles?: readonly string[] | undefined;
  replied_user?: boolean | undefined;
}

const CODE = /```[\s\S]*?```|`[^`\n]*`/g;
const USER = /<@!?(\d{1,20})>/g;
const ROLE = /<@&(\d{1,20})>/g;
const EVERYONE = /@(?:everyone|here)\b/;

/** The mentions in the content. Mentions in code are text; @everyone and roles depend on the sender's permissions (as bits). */
export function findMentions(
  world: World,
  channel: LocalChannel,
  content: string,
  permissions: bigint,
  allowed: AllowedMentions | undefined,
): Mentions {
  if (!content.includes('@')) return { everyone: false, users: [], roles: [] };
  const text = content.includes('`') ? content.replace(CODE, '') : content;
  const mayPingAll = Boolean(permissions & PermissionFlagsBits.MentionEveryone);
  const all = (kind: string) => !allowed || (allowed.parse?.includes(kind) ?? false);
  return {
    everyone: EVERYONE.test(text) && mayPingAll && channel.guild !== undefined && all('everyone'),
    users: mentionedUsers(world, text).filter((user) => all('users') || allowed?.users?.includes(user.id)),
    roles: mentionedRoles(channel, text).filter(
      (role) => (role.mentionable || mayPingAll) && (all('roles') || allowed?.roles?.includes(role.id)),
    ),
  };
}

/** @throws 50035 when a list and its `parse` keyword exclude each other */
export function validateAllowedMentions(allowed: AllowedMentions | undefined): void {
  for (const kind of ['users', 'roles'] as const) {
    const list = allowed?.[kind] ?? [];
    if (list.length > 0 && allowed?.parse?.includes(kind)) {
      throw invalidForm({
        path: ['allowed_mentions'],
        code: 'MESSAGE_ALLOWED_MENTIONS_PARSE_EXCLUSIVE',
        message: `parse:["${kind}"] and ${kind}: [ids...] are mutually exclusive.`,
      });
    }
    if (list.length > 100) {
      throw invalidForm({
        path: ['allowed_mentions', kind],
        code: 'BASE_TYPE_BAD_LENGTH',
        message: 'Must be between 0 and 100 in length.',
      });
    }
  }
}

function mentionedUsers(world: World, text: string): LocalUser[] {
  return unique(text, USER).flatMap((id) => world.users.get(id) ?? []);
}

function mentionedRoles(channel: LocalChannel, text: string): LocalRole[] {
  return unique(text, ROLE).flatMap((id) => channel.guild?.roles.get(id) ?? []);
}

function unique(text: string, pattern: RegExp): string[] {
  return [...new Set([...text.matchAll(pattern)].flatMap((match) => match[1] ?? []))];
}

const FLAG = /^\p{RI}{2}$/u;
const KEYCAP = /^[#*0-9]\uFE0F?\u20E3$/u;
/** Pictographs, skin tones, joiners, variation selectors and tag characters, beginning with a pictograph. */
const PICTOGRAPH =
  /^\p{Extended_Pictographic}(?:\p{Extended_Pictographic}|\p{Emoji_Modifier}|\uFE0F|\u200D|[\u{E0020}-\u{E007F}])*$/u;
const CUSTOM = /^(?:<a?:)?(\w{2,32}):(\d{1,20})>?$/;

/** Parses an emoji in the form of URLs or of messages: `👍`, `name:id` or `<:name:id>`. @throws 10014 for anything else */
export function parseEmoji(world: World, text: string): EmojiRef {
  const custom = CUSTOM.exec(text);
  if (!custom) {
    if (FLAG.test(text) || KEYCAP.test(text) || PICTOGRAPH.test(text)) return { id: null, name: text };
    throw discordError('unknownEmoji');
  }
  const id = custom[2] ?? '';
  for (const guild of world.guilds.values()) {
    const emoji = guild.emojis.get(id);
    if (emoji) return { id, name: emoji.name, ...(emoji.animated ? { animated: true } : {}) };
  }
  throw discordError('unknownEmoji');
}

/** The content of a new message; shared by REST, webhooks, interaction responses and the user side. */
export interface MessageDraft {
  /** Default: a new id. The first message of a forum post has the id of its thread. */
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

/** The changes of an edit; missing fields stay. */
export interface MessageEdit {
  content?: string | null | undefined;
  embeds?: APIEmbed[] | null | undefined;
  components?: APIMessageTopLevelComponent[] | null | undefined;
  files?: readonly UploadedFile[] | undefined;
  /** Ids of the attachments to keep. */
  keepAttachments?: readonly string[] | undefined;
  flags?: number | undefined;
  allowedMentions?: AllowedMentions | undefined;
}
