import { DEFAULT_CONFIG } from '@cinnabar/plugin-chat/dist/config/keys.js';
import { buildContext } from '@cinnabar/plugin-chat/dist/context/build.js';
import {
  type CacheState,
  cacheStateSchema,
  EMPTY_CACHE_STATE,
} from '@cinnabar/plugin-chat/dist/context/caching/cache-state.js';
import type { BuiltContext, ContextInput, ToolRecord } from '@cinnabar/plugin-chat/dist/context/types.js';
import { estimateMessage } from '@cinnabar/plugin-chat/dist/context/window.js';
import type { HistoryAttachment, HistoryMessage, Images } from '@cinnabar/plugin-chat/dist/history/types.js';
import type { LlmRequest, ModelTraits } from '@cinnabar/sdk';

export const STARTED = Date.UTC(2026, 0, 1);
export const SELF = { id: '9', name: 'Claude' };

export const TRAITS: ModelTraits = {
  provider: 'anthropic',
  model: 'claude',
  modes: ['chat', 'prefill'],
  images: true,
  contextTokens: 200_000,
  cache: { kind: 'explicit', breakpoints: 4, minTokens: 100, ttls: ['5m', '1h'], lookBackBlocks: 20 },
  price: { input: 3, output: 15, cacheRead: 0.3, cacheWrite5m: 3.75, cacheWrite1h: 6 },
};

const IDS = new Map([['Claude', SELF.id]]);

type Spoken = Partial<Omit<HistoryMessage, 'author'>> & { readonly author?: Partial<HistoryMessage['author']> };

/** A message of Alice, Bob …, or of the bot, `Claude`. */
export function said(who: string, content: string, more: Spoken = {}): HistoryMessage {
  const userId = IDS.get(who) ?? `${IDS.size + 100}`;
  IDS.set(who, userId);
  const self = who === SELF.name;
  return {
    id: '0',
    channelId: '1',
    content,
    createdAt: STARTED,
    editedAt: null,
    replyTo: null,
    attachments: [],
    extras: [],
    reactions: [],
    ...more,
    author: {
      id: userId,
      speaker: userId,
      displayName: who,
      username: who.toLowerCase(),
      bot: self,
      self,
      ...more.author,
    },
  };
}

/** Adds missing ids and times to the messages, in their order. */
export function inOrder(messages: readonly HistoryMessage[]): readonly HistoryMessage[] {
  return messages.map((message, index) =>
    message.id === '0' ? { ...message, id: idAt(index), createdAt: STARTED + index * 1000 } : message,
  );
}

export function idAt(index: number): string {
  return String(1001 + index);
}

export function calledAfter(index: number, more: Partial<ToolRecord> = {}): ToolRecord {
  return {
    callId: 'call_1',
    name: 'get_time',
    input: { timezone: 'Asia/Tokyo' },
    afterMessageId: idAt(index),
    result: '14:30 JST',
    isError: false,
    ...more,
  };
}

export function picture(name = 'sunset.jpg', sizeBytes = 1000): HistoryAttachment {
  return { url: `https://cdn.discordapp.com/${name}`, name, contentType: 'image/jpeg', sizeBytes };
}

/** Contains every picture; its data is its name. */
export const album: Pick<Images, 'load'> = {
  load: async ({ name, sizeBytes }) => ({ mediaType: 'image/jpeg', base64: name, sizeBytes }),
};

/** Contains every text file; its content is its name. */
export const shelf: ContextInput['textFiles'] = {
  read: async ({ name, sizeBytes }, maxBytes) => ({ text: `The text of ${name}.`, cut: sizeBytes > maxBytes }),
};

export type Given = Partial<Omit<ContextInput, 'config' | 'window' | 'traits'>> & {
  readonly config?: Partial<typeof DEFAULT_CONFIG>;
  readonly traits?: Partial<ModelTraits>;
};

export function build(messages: readonly HistoryMessage[], given: Given = {}): Promise<BuiltContext> {
  return buildContext({
    self: SELF,
    system: 'You take part in a channel.',
    tools: [],
    records: [],
    images: album,
    textFiles: shelf,
    memory: EMPTY_CACHE_STATE,
    now: STARTED + 3_600_000,
    ...given,
    window: { messages: inOrder(messages), whole: true, restCalls: 0, notes: [] },
    config: { ...DEFAULT_CONFIG, ...given.config },
    traits: { ...TRAITS, ...given.traits },
  });
}

/** The number of tokens of a request's messages, without the completion target, in the plugin's own estimate. */
export function estimateOf({ messages }: LlmRequest): number {
  return messages.slice(0, -1).reduce((sum, message) => sum + estimateMessage(message), 0);
}

/** `Alice: hello`, one line per message, without the completion target. */
export function asLines({ messages }: LlmRequest): readonly string[] {
  return messages.slice(0, -1).map(({ participant, content }) => {
    const parts = content.map((block) => {
      if (block.type === 'text') return block.text;
      if (block.type === 'image') return `<${block.source.data}>`;
      return block.type === 'tool_use' ? `(calls ${block.id})` : `(result ${block.toolUseId})`;
    });
    return `${participant}: ${parts.join(' ')}`;
  });
}

/** A channel in which the bot is called repeatedly; its state is serialised to JSON between calls, as at a restart. */
export function createChannel(given: Given = {}) {
  let memory: CacheState = EMPTY_CACHE_STATE;
  let now = STARTED + 3_600_000;
  return {
    get memory() {
      return memory;
    },
    wait(ms: number) {
      now += ms;
    },
    waitUntil(at: number) {
      now = at;
    },
    async activate(messages: readonly HistoryMessage[], then: Given = {}): Promise<BuiltContext> {
      const built = await build(messages, { ...given, ...then, memory, now });
      memory = cacheStateSchema.parse(JSON.parse(JSON.stringify(built.memory)));
      return built;
    },
  };
}

export function chat(count: number, from = 0): readonly HistoryMessage[] {
  const people = ['Alice', 'Bob', 'Carol'];
  return Array.from({ length: count }, (_, index) =>
    said(people[(from + index) % people.length] ?? '', `This is message number ${from + index} of the conversation.`),
  );
}
