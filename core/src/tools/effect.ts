import { type Actor, CinnabarError, type Place, type ToolDefinition } from '@cinnabar/sdk';
import type { Arguments } from './arguments.js';
import type { RegisteredTool } from './registry.js';

/**
 * Where a call takes effect; `undefined`: where a person asks for it, which needs no decision of its own.
 * @throws CINNABAR_TOOL_FAILED when the tool does not say, and whatever it throws
 */
export async function effectOf(
  { definition, info }: RegisteredTool,
  input: Arguments,
  actor: Actor,
): Promise<Place | undefined> {
  if (definition.place === undefined) return whereAsked(definition, actor);
  // A plugin may be in JavaScript: what is no place must not be taken for the place of whoever asks.
  const place: Partial<Place> | undefined = await definition.place(input);
  if (place?.guildId !== undefined) return { ...place, guildId: place.guildId };
  throw new CinnabarError('CINNABAR_TOOL_FAILED', { tool: info.name, detail: 'it did not say where it takes effect' });
}

/**
 * Where a call of a tool without `place` takes effect. An agent was let in channel by channel, and where its requests are shown need not be one
 * of them: then it changes nothing there. What only reads leaves everything as it is, and asks itself how far whoever calls may look.
 */
export function whereAsked({ risk }: ToolDefinition, { identity, guildId, channelId }: Actor): Place | undefined {
  return identity === undefined || risk === 'read' ? undefined : { guildId, channelId };
}

export function isSamePlace(one: Place | undefined, other: Place | undefined): boolean {
  return one?.guildId === other?.guildId && one?.channelId === other?.channelId;
}
