import {
  nameText,
  type ToolContext,
  type ToolDefinition,
  type ToolInput,
  type ToolPresentation,
  t,
  withRefusalSentences,
  type z,
} from '@cinnabar/sdk';
import type { PermissionsString } from 'discord.js';
import type { Caller } from './settings.js';

/** What a tool's `run` gets: the call, and the caller with the called tool. */
export interface Call extends ToolContext, Caller {}

type DiscordTool<S extends ToolInput, O> = Omit<ToolDefinition<S, O>, 'run'> & {
  /** The permissions that both member and bot need in the place of the call. */
  readonly permissions?: readonly PermissionsString[];
  run(input: z.output<S>, call: Call): O | Promise<O>;
};

/** Labels of arguments on cards. They are listed here instead of derived from names, so that they can be translated. */
const LABELS = {
  after: 'After',
  allow: 'Permissions to allow',
  archived: 'Archived',
  around: 'Around',
  authorId: 'Author Id',
  authorType: 'Author Type',
  avatar: 'Avatar',
  avatarURL: 'Avatar URL',
  before: 'Before',
  categoryId: 'Category Id',
  channelId: 'Channel Id',
  channelName: 'Channel Name',
  color: 'Color',
  content: 'Content',
  deny: 'Permissions to deny',
  emoji: 'Emoji',
  emojis: 'Emojis',
  forumChannelId: 'Forum Channel Id',
  guildId: 'Guild Id',
  has: 'Has',
  hoist: 'Hoist',
  includeArchived: 'Include Archived',
  limit: 'Limit',
  locked: 'Locked',
  maxId: 'Max Id',
  mentionable: 'Mentionable',
  mentions: 'Mentions',
  message: 'Message',
  messageId: 'Message Id',
  minId: 'Min Id',
  name: 'Name',
  offset: 'Offset',
  parentId: 'Parent Id',
  permissions: 'Permissions',
  pinned: 'Pinned',
  position: 'Position',
  private: 'Private',
  reason: 'Reason',
  replyToMessageId: 'Reply To Message Id',
  roleId: 'Role Id',
  seconds: 'Seconds',
  sortBy: 'Sort By',
  sortOrder: 'Sort Order',
  tags: 'Tags',
  threadId: 'Thread Id',
  title: 'Title',
  topic: 'Topic',
  userId: 'User Id',
  userLimit: 'User Limit',
  username: 'Username',
  webhookId: 'Webhook Id',
  webhookToken: 'Webhook Token',
} as const;

/** Defines a tool whose refusals by Discord become sentences for the caller. `run` stands before `present`, whose type depends on its result. */
export function discordTool<S extends ToolInput, O>({
  permissions,
  ...definition
}: DiscordTool<S, O>): ToolDefinition<S, O> {
  const { place, run, name: tool, present } = definition;
  return {
    ...definition,
    ...(present === undefined ? {} : { present: { ...present, labels: { ...LABELS, ...present.labels } } }),
    ...(permissions === undefined ? {} : { access: { member: permissions, bot: permissions } }),
    ...(place === undefined ? {} : { place: (input) => withRefusalSentences(() => place(input)) }),
    run: (input, call) => withRefusalSentences(() => run(input, { ...call, tool })),
  };
}

/** The created, changed or deleted object. */
export interface Named {
  readonly id: string;
  readonly name: string;
}

export const namedOf = ({ id, name }: Named): Named => ({ id, name });

/** The presentation of a tool that creates something whose name is the argument `field`. */
export function presentCreate<Field extends string>(
  kind: 'text' | 'voice' | 'forum' | 'category' | 'role',
  action: string,
  field: Field,
): ToolPresentation<{ readonly [K in Field]: string }, Named> {
  return {
    sentence: (input) =>
      t(
        "I'll create the {kind, select, text {text channel} voice {voice channel} forum {forum channel} category {category} other {role}} {name}",
        { kind, name: input[field] },
      ),
    said: [field],
    action,
    success: (_, { id, name }) =>
      t(
        '✓ Created the {kind, select, text {text channel} voice {voice channel} forum {forum channel} category {category} other {role}} {name} ({id}).',
        { kind, name: nameText(name), id },
      ),
    cancelled: (input) =>
      t(
        'Cancelled creating the {kind, select, text {text channel} voice {voice channel} forum {forum channel} category {category} other {role}} {name}.',
        { kind, name: input[field] },
      ),
  };
}

/** The presentation of a tool that changes something; `target` names it in the question. */
export function presentChange<Input>(
  kind: 'channel' | 'category' | 'role',
  action: string,
  target: (input: Input) => string,
): ToolPresentation<Input, Named> {
  return {
    sentence: (input) =>
      t("I'll change the {kind, select, channel {channel} category {category} other {role}} {target}", {
        kind,
        target: target(input),
      }),
    action,
    success: (_, { id, name }) =>
      t('✓ Changed the {kind, select, channel {channel} category {category} other {role}} {name} ({id}).', {
        kind,
        name: nameText(name),
        id,
      }),
    cancelled: () =>
      t('Cancelled changing the {kind, select, channel {channel} category {category} other {role}}.', { kind }),
  };
}

/** The presentation of a tool that deletes something; of channels and threads with their content. */
export function presentDelete<Input>(
  kind: 'channel' | 'thread' | 'category' | 'role',
  action: string,
  target: (input: Input) => string,
): ToolPresentation<Input, Named> {
  const isFull = kind === 'channel' || kind === 'thread';
  return {
    sentence: (input) =>
      isFull
        ? t("I'll delete the {kind, select, channel {channel} other {thread}} {target} with everything in it", {
            kind,
            target: target(input),
          })
        : t("I'll delete the {kind, select, category {category} other {role}} {target}", {
            kind,
            target: target(input),
          }),
    action,
    success: (_, { id, name }) =>
      t(
        '✓ Deleted the {kind, select, channel {channel} thread {thread} category {category} other {role}} {name} ({id}).',
        { kind, name: nameText(name), id },
      ),
    cancelled: () =>
      t('Cancelled deleting the {kind, select, channel {channel} thread {thread} category {category} other {role}}.', {
        kind,
      }),
  };
}
