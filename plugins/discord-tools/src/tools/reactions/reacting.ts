/** What reacting needs, of who asks and of the bot. */
export const REACTING = ['ViewChannel', 'ReadMessageHistory', 'AddReactions'] as const;
