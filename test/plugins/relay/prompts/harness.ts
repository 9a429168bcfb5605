import type { EventFacts, RelayEvent } from '@cinnabar/plugin-relay/dist/events/event.js';
import { safeName } from '@cinnabar/plugin-relay/dist/events/message-event.js';
import { renderPrompt } from '@cinnabar/plugin-relay/dist/prompts/render.js';

const AT = Date.parse('2026-01-02T03:04:05.000Z');

/** An event of a server, with defaults for all properties. */
export function eventOf(event: Partial<Omit<RelayEvent, 'facts'>> = {}, facts: Partial<EventFacts> = {}): RelayEvent {
  return {
    id: 'message:30',
    kind: 'mention',
    agent: 'aurora',
    guildId: '1',
    channelId: '2',
    userId: '20',
    ...event,
    facts: {
      at: AT,
      author: authorCalled('Alice'),
      channel: { id: '2', name: 'general', type: 'text' },
      guild: { id: '1', name: 'Night City' },
      messageId: '30',
      content: 'Hello there',
      chain: [],
      attachments: [],
      ...facts,
    },
  };
}

/** Alice with a chosen display name, as the intake reads it. */
export function authorCalled(name: string) {
  return { id: '20', username: 'alice', displayName: safeName(name), roles: ['Solo', 'Crew'], isBot: false };
}

export function directOf(facts: Partial<EventFacts> = {}): RelayEvent {
  const channel = { id: '2', name: 'direct message', type: 'dm' } as const;
  return eventOf({ kind: 'dm', guildId: null }, { channel, guild: null, ...facts });
}

const ALL_TOOLS: ReadonlySet<string> = new Set([
  'discord_read_messages',
  'discord_get_server_info',
  'discord_send',
  'discord_add_reaction',
]);

/** The prompt for these events; by default with guidance for all tools, and with the agent posting by itself. */
export function promptOf(events: Parameters<typeof renderPrompt>[0], options: Partial<PromptOptions> = {}): string {
  return renderPrompt(events, { tools: ALL_TOOLS, enabled: true, postsForIt: false, ...options });
}

type PromptOptions = Parameters<typeof renderPrompt>[1];
