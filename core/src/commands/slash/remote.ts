import { z } from '@cinnabar/sdk';
import { ApplicationCommandType, type Client, Routes } from 'discord.js';
import type { CommandPayload } from './payload.js';

const listed = z.array(
  z.looseObject({
    type: z.number().default(ApplicationCommandType.ChatInput),
    /** Absent: global. */
    guild_id: z.string().nullish(),
  }),
);
type Listed = z.output<typeof listed>;

/** One of Discord's lists of commands. */
export interface RemoteCommands {
  readonly chatInput: Listed;
  /** Context menus and entry points: not ours to remove. */
  readonly others: Listed;
}

/** `null` is the global list. */
export async function fetchCommands(client: Client<true>, guildId: string | null): Promise<RemoteCommands> {
  const found = listed.parse(await client.rest.get(routeOf(client, guildId)));
  // A list may show those of the other kind, too: to send them back would make a second copy of each.
  const all = found.filter(({ guild_id: of = null }) => of === guildId);
  const isChatInput = (one: Listed[number]) => one.type === ApplicationCommandType.ChatInput;
  return { chatInput: all.filter(isChatInput), others: all.filter((one) => !isChatInput(one)) };
}

/** Replaces the whole list in one request, so that no moment is without commands. */
export async function overwriteCommands(
  client: Client<true>,
  guildId: string | null,
  payloads: readonly CommandPayload[],
  others: Listed,
): Promise<void> {
  await client.rest.put(routeOf(client, guildId), { body: [...payloads, ...others] });
}

function routeOf(client: Client<true>, guildId: string | null): `/${string}` {
  const { id } = client.application;
  return guildId === null ? Routes.applicationCommands(id) : Routes.applicationGuildCommands(id, guildId);
}
