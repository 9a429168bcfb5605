/** https://discord.com/developers/docs/interactions/application-commands#registering-a-command */
export const MAX_COMMANDS = 100;
/** Options of a command, commands of a group, choices of an option. */
export const MAX_OPTIONS = 25;
/** Names, descriptions and choice values of one command together. */
export const MAX_CHARACTERS = 8000;
export const MAX_CHOICE_LENGTH = 100;
export const MAX_DESCRIPTION = 100;
/** The longest text that Discord can be told to demand. */
export const MAX_TEXT_LENGTH = 6000;
