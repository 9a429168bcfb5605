import type { LlmRequest, ModelTraits } from '@cinnabar/sdk';
import { createChannel } from '../../plugins/chat/context/harness.js';
import type { Log } from './logs.js';
import { type Prompt, tokensOf, tokensOfMessage } from './provider.js';
import { WINDOW } from './strategies.js';

export const SYSTEM = 'You take part in a channel of many. '.repeat(140);
export const SYSTEM_TOKENS = tokensOf(SYSTEM);

const TRAITS: ModelTraits = {
  provider: 'anthropic',
  model: 'model',
  modes: ['chat'],
  images: true,
  contextTokens: 200_000,
  cache: { kind: 'explicit', breakpoints: 4, minTokens: 1024, ttls: ['5m', '1h'], lookBackBlocks: 20 },
  price: undefined,
};

/** The project's context builder, used as in the chat loop: it reads the history as needed, and keeps its state between activations and over restarts. */
export function createOurs({ messages }: Log) {
  const identify = createPrefixes();
  const channel = createChannel({ system: SYSTEM, traits: TRAITS });
  return async (count: number, now: number): Promise<{ readonly prompt: Prompt; readonly shown: number }> => {
    const reach = messages.findIndex(({ id }) => id === channel.memory.anchorId);
    const from = Math.max(0, Math.min(count - WINDOW, reach < 0 ? count : reach));
    channel.waitUntil(now);
    const built = await channel.activate(messages.slice(from, count));
    return { prompt: identify(built.request), shown: built.facts.messages };
  };
}

/** Distinguishes prefixes exactly: a tree of blocks, in which each prefix is a node. */
function createPrefixes() {
  const texts = new Map<string, number>();
  const nodes = new Map<number, number>();
  const nodeOf = (parent: number, text: string): number => {
    const id = texts.get(text) ?? texts.size;
    texts.set(text, id);
    const key = parent * 1_000_000 + id;
    const node = nodes.get(key) ?? nodes.size + 1;
    nodes.set(key, node);
    return node;
  };
  return ({ system = '', cache, messages }: LlmRequest): Prompt => {
    const spoken = messages.filter(({ messageId }) => messageId !== undefined);
    let node = nodeOf(0, system);
    let tokens = SYSTEM_TOKENS;
    const prefixes = [{ node, tokens }];
    const breakpoints = cache?.system === undefined ? [] : [{ block: 0, ttl: cache.system.ttl ?? '5m' }];
    for (const [index, message] of spoken.entries()) {
      const [block] = message.content;
      const text = block?.type === 'text' ? block.text : '';
      node = nodeOf(node, `${message.participant}\n${text}`);
      tokens += tokensOfMessage(message.participant, text);
      prefixes.push({ node, tokens });
      if (message.cacheControl !== undefined)
        breakpoints.push({ block: index + 1, ttl: message.cacheControl.ttl ?? '5m' });
    }
    return {
      blocks: prefixes.length,
      keyOf: (block) => prefixes[block]?.node ?? -1,
      tokensTo: (block) => prefixes[block]?.tokens ?? 0,
      breakpoints,
    };
  };
}
