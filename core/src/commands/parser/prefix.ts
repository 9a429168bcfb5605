/**
 * Where the prefix of a command ends: the longest of the guild's prefixes, or a mention of the bot.
 * Runs for every message that anyone writes, so it allocates nothing.
 * @returns the index after the prefix, 0 when there is none
 */
export function prefixEnd(content: string, prefixes: readonly string[], botId: string): number {
  let end = 0;
  for (const prefix of prefixes) {
    if (prefix.length > end && content.startsWith(prefix)) end = prefix.length;
  }
  return end === 0 ? mentionEnd(content, botId) : end;
}

/** `<@id>` or `<@!id>` at the start. */
function mentionEnd(content: string, botId: string): number {
  if (!content.startsWith('<@')) return 0;
  const start = content[2] === '!' ? 3 : 2;
  const end = start + botId.length;
  return content[end] === '>' && content.startsWith(botId, start) ? end + 1 : 0;
}
