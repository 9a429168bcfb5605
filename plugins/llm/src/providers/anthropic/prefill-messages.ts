import type { CacheControl } from '@cinnabar/sdk';
import { READ_ON } from '../../prefill/notes.js';
import { toScript } from '../../prefill/script.js';
import { prefillStops } from '../../prefill/stops.js';
import type { Part } from '../../transcript/turns.js';
import type { ImageRule } from '../../transcript/user-parts.js';
import type { ProviderCall } from '../provider.js';
import { type MarkedMessage, toBlock } from './blocks.js';
import type { Conversation } from './request.js';

/** The conversation as words in the model's mouth, with the list of tools in front. */
export function toPrefill({ request, assistantImages }: ProviderCall, images: ImageRule): Conversation {
  const { system, tools, messages } = toScript(request, images);
  const user = (text: string, cache?: CacheControl): MarkedMessage => ({
    role: 'user',
    blocks: [{ block: { type: 'text', text }, cache }],
  });
  return {
    system,
    messages: [
      user(READ_ON),
      ...(tools === undefined ? [] : [user(tools, request.cache?.tools)]),
      ...messages.flatMap((parts) => (assistantImages ? [spoken(parts)] : apart(parts))),
    ],
    tools: [],
    options: {},
    stops: prefillStops(request, Number.POSITIVE_INFINITY),
  };
}

function spoken(parts: readonly Part[]): MarkedMessage {
  return { role: 'assistant', blocks: parts.map((part) => ({ block: toBlock(part), cache: part.cache })) };
}

/** The API takes images in a user's message only. */
function apart(parts: readonly Part[]): readonly MarkedMessage[] {
  const words = parts.filter((part) => part.type === 'text');
  const shown = parts.filter((part) => part.type === 'image');
  return [
    ...(words.length === 0 ? [] : [spoken(words)]),
    ...(shown.length === 0 ? [] : [{ ...spoken(shown), role: 'user' as const }]),
  ];
}
