import { GatewayIntentBits as I } from 'discord-api-types/v10';
import type { DispatchName } from './events.js';

/** Which intent opens an event, in a guild and in a DM. From https://discord.com/developers/docs/events/gateway#gateway-intents */
interface Gate {
  guild: number;
  dm: number;
}

const ALWAYS: Gate = { guild: 0, dm: 0 };
const guilds: Gate = { guild: I.Guilds, dm: I.Guilds };
const members: Gate = { guild: I.GuildMembers, dm: 0 };
const messages: Gate = { guild: I.GuildMessages, dm: I.DirectMessages };
const reactions: Gate = { guild: I.GuildMessageReactions, dm: I.DirectMessageReactions };

const gates: Partial<Record<DispatchName, Gate>> = {
  GUILD_CREATE: guilds,
  GUILD_UPDATE: guilds,
  GUILD_DELETE: guilds,
  GUILD_ROLE_CREATE: guilds,
  GUILD_ROLE_UPDATE: guilds,
  GUILD_ROLE_DELETE: guilds,
  CHANNEL_CREATE: guilds,
  CHANNEL_UPDATE: guilds,
  CHANNEL_DELETE: guilds,
  CHANNEL_PINS_UPDATE: { guild: I.Guilds, dm: I.DirectMessages },
  THREAD_CREATE: guilds,
  THREAD_UPDATE: guilds,
  THREAD_DELETE: guilds,
  THREAD_LIST_SYNC: guilds,
  THREAD_MEMBER_UPDATE: guilds,
  THREAD_MEMBERS_UPDATE: guilds,
  GUILD_MEMBER_ADD: members,
  GUILD_MEMBER_UPDATE: members,
  GUILD_MEMBER_REMOVE: members,
  GUILD_BAN_ADD: { guild: I.GuildModeration, dm: 0 },
  GUILD_BAN_REMOVE: { guild: I.GuildModeration, dm: 0 },
  GUILD_EMOJIS_UPDATE: { guild: I.GuildExpressions, dm: 0 },
  WEBHOOKS_UPDATE: { guild: I.GuildWebhooks, dm: 0 },
  PRESENCE_UPDATE: { guild: I.GuildPresences, dm: 0 },
  MESSAGE_CREATE: messages,
  MESSAGE_UPDATE: messages,
  MESSAGE_DELETE: messages,
  MESSAGE_DELETE_BULK: messages,
  MESSAGE_REACTION_ADD: reactions,
  MESSAGE_REACTION_REMOVE: reactions,
  MESSAGE_REACTION_REMOVE_ALL: reactions,
  MESSAGE_REACTION_REMOVE_EMOJI: reactions,
  TYPING_START: { guild: I.GuildMessageTyping, dm: I.DirectMessageTyping },
};

/** Whether a session that identified with these intents is told of the event. */
export function intentsAdmit(intents: number, event: DispatchName, inGuild: boolean): boolean {
  const gate = gates[event] ?? ALWAYS;
  const needed = inGuild ? gate.guild : gate.dm;
  return (intents & needed) === needed;
}

/** The highest value that any combination of known intents has. */
export const ALL_INTENTS: number = Object.values(I).reduce<number>(
  (all, bit) => (typeof bit === 'number' ? all | bit : all),
  0,
);
