import type { CacheControl, ContentBlock, ImageContent } from '@cinnabar/sdk';
import { goOn, speak } from './speech.js';
import type { ImagePart, Part } from './turns.js';

/** Why an image cannot be sent to this model; `undefined` when it can. */
export type ImageRule = (source: ImageContent['source']) => string | undefined;

/** A part that may still grow, or be marked. */
export type GrowingPart =
  | { readonly type: 'text'; text: string; cache?: CacheControl }
  | (ImagePart & { cache?: CacheControl });

/** Text, or an image that the model can take, or a note in its place. */
export function showable(block: ContentBlock, rule: ImageRule): Part | undefined {
  if (block.type === 'text') return block.text.trim() === '' ? undefined : { type: 'text', text: block.text };
  if (block.type !== 'image') return undefined;
  const problem = rule(block.source);
  return problem === undefined
    ? { type: 'image', source: block.source }
    : { type: 'text', text: `[an image that you cannot see: ${problem}]` };
}

/**
 * Adds one message to what people have said.
 * @param apart a part for each message; otherwise text runs on in one until an image or a cache mark ends it
 */
export function addMessage(parts: GrowingPart[], label: string, message: readonly Part[], apart: boolean): void {
  const [first, ...more] = message;
  if (first === undefined) return;
  addText(parts, first.type === 'image' ? `${label}:` : speak(label, first.text).trimEnd(), apart);
  for (const part of first.type === 'image' ? message : more) {
    if (part.type === 'image') parts.push({ ...part });
    else addText(parts, goOn(part.text), false);
  }
}

/** A later part starts with the line break, so that a part once sent never changes and stays cached. */
export function addText(parts: GrowingPart[], text: string, apart: boolean): void {
  const last = parts.at(-1);
  if (last === undefined) parts.push({ type: 'text', text });
  else if (last.type === 'image' || last.cache !== undefined || apart) parts.push({ type: 'text', text: `\n${text}` });
  else last.text += `\n${text}`;
}
