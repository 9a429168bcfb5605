const SNOWFLAKE = /^\d{15,22}$/;
const BOT_NAME = /^[A-Za-z0-9](?:[A-Za-z0-9_.-]{0,30}[A-Za-z0-9_])?$/;
/** `claude-123456789012345678` would be read as the bot `claude` in a guild. */
const ENDS_IN_GUILD = /-\d{15,22}$/;

/** Whether a text is an id of Discord's, and so safe as a part of a path. */
export function isSnowflake(text: string): boolean {
  return SNOWFLAKE.test(text);
}

/** What is wrong with a bot's name, as a clause; `undefined` when nothing is. Names become parts of paths. */
export function botNameProblem(name: string): string | undefined {
  if (!BOT_NAME.test(name)) return 'must be 1 to 32 letters, digits, _ . or -, with a letter or digit at both ends';
  return ENDS_IN_GUILD.test(name) ? 'must not end like a guild id' : undefined;
}
