import type { ContentBlock, ImageContent } from '@cinnabar/sdk';
import { goOn, speak } from './speech.js';
import type { Part } from './turns.js';

/** Why an image cannot be sent to this model; `undefined` when it can. */
export type ImageRule = (source: ImageContent['source']) => string | undefined;

/** Text, or an image that the model can take, or a note in its place. */
export function showable(block: ContentBlock, rule: ImageRule): Part | undefined {
  if (block.type === 'text') return block.text.trim() === '' ? undefined : { type: 'text', text: block.text };
  if (block.type !== 'image') return undefined;
  const problem = rule(block.source);
  return problem === undefined
    ? { type: 'image', source: block.source }
    : { type: 'text', text: `[an image that you cannot see: ${problem}]` };
}

/** Adds one message to what people have said. Text runs on in one part until an image or a cache mark ends it. */
export function addMessage(parts: readonly Part[], label: string, message: readonly Part[]): readonly Part[] {
  const spoken = message[0]?.type === 'image' ? [{ type: 'text' as const, text: '' }, ...message] : message;
  let all = parts;
  for (const [index, part] of spoken.entries()) {
    if (part.type === 'image') all = [...all, part];
    else all = addText(all, index === 0 ? speak(label, part.text).trimEnd() : goOn(part.text));
  }
  return all;
}

// A later part starts with the line break, so that a part once sent never changes and stays cached.
function addText(parts: readonly Part[], text: string): readonly Part[] {
  const last = parts.at(-1);
  if (last === undefined) return [{ type: 'text', text }];
  if (last.type === 'image' || last.cache === true) return [...parts, { type: 'text', text: `\n${text}` }];
  return [...parts.slice(0, -1), { type: 'text', text: `${last.text}\n${text}` }];
}
