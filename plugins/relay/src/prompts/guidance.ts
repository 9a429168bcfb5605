/** What an agent can use the tools for in a server, in few words; their own descriptions say the rest. */
const IN_A_SERVER: Readonly<Record<string, string>> = {
  'discord_read_messages(channelId, limit)': 'Read recent channel messages for context',
  'discord_get_server_info(guildId)': 'Get detailed server information including channels',
  'discord_send(channelId, message, replyToMessageId)': 'Send messages to channels, optionally as a reply',
  'discord_add_reaction(channelId, messageId, emoji)': 'React to messages',
  'discord_search_messages(guildId, content, authorId, channelId, limit)': 'Search the messages of the server',
  'discord_add_multiple_reactions(channelId, messageId, emojis)': 'Add several reactions to a message at once',
  'discord_remove_reaction(channelId, messageId, emoji)': 'Take a reaction back',
  'discord_edit_message(channelId, messageId, content)': 'Edit a message that you have sent',
  'discord_delete_message(channelId, messageId, reason)': 'Delete a message',
  'discord_list_servers()': 'List the servers that you have access to',
  'discord_get_forum_channels(guildId)': 'List the forum channels of a server',
  'discord_create_forum_post(forumChannelId, title, content, tags)': 'Create a forum post',
  'discord_get_forum_post(threadId)': 'Read a forum post',
  'discord_reply_to_forum(threadId, message)': 'Reply to a forum post',
};
const IN_A_DM: Readonly<Record<string, string>> = {
  'discord_read_messages(channelId, limit)': 'Review your DM conversation history',
  'discord_send(channelId, message, replyToMessageId)': 'Send a message in this DM channel',
  'discord_add_reaction(channelId, messageId, emoji)': 'React to messages',
};

export interface Guidance {
  /** Names of the tools that this agent really has. */
  readonly tools: ReadonlySet<string>;
  /** Whether the prompt names them at all. */
  readonly enabled: boolean;
  /** Whether what the agent says without posting it is posted for it. */
  readonly postsForIt: boolean;
}

/** The section that names the agent's tools, and how to answer; nothing where it is not wanted. */
export function guidance({ tools, enabled, postsForIt }: Guidance, isDirect: boolean): readonly string[] {
  if (!enabled) return [];
  const known = Object.entries(isDirect ? IN_A_DM : IN_A_SERVER);
  const hints = known.filter(([usage]) => tools.has(usage.slice(0, usage.indexOf('('))));
  const opening = isDirect ? [] : ['You have access to MCP Discord tools to gather context as needed:'];
  const list = hints.map(([usage, use]) => `- ${usage}: ${use}`);
  const section = hints.length === 0 ? [] : [['**Available Tools:**', ...opening, ...list].join('\n')];
  if (tools.has('discord_send')) return [...section, howToReply(isDirect)];
  return postsForIt ? [...section, 'What you say at the end of your work is posted as your reply.'] : section;
}

function howToReply(isDirect: boolean): string {
  return [
    'To reply, use the discord_send tool:',
    `- Each call creates a new message in the ${isDirect ? 'DM channel' : 'channel'}`,
    `- Use replyToMessageId to reply directly to a specific message${isDirect ? ' if needed' : ''}`,
    '- For most responses, a single call is sufficient',
    '- Only use multiple calls if absolutely necessary:',
    `    * You are replying to multiple messages in the context${isDirect ? '' : ' from multiple users'}`,
  ].join('\n');
}
