import { type CacheControl, type ContentBlock, type ImageContent, likenessOf } from '@cinnabar/sdk';

/** A part of a message. `cache` marks where a provider may end a cached prefix. */
export type Part = TextPart | ImagePart;
interface TextPart {
  readonly type: 'text';
  readonly text: string;
  readonly cache?: CacheControl;
}
interface ImagePart {
  readonly type: 'image';
  readonly source: ImageContent['source'];
  readonly cache?: CacheControl;
}

/** A call that the model made. Ids are unique in the transcript and valid for every provider. */
interface Call {
  readonly id: string;
  readonly name: string;
  readonly input: Readonly<Record<string, unknown>>;
}
export interface CallResult {
  readonly id: string;
  readonly parts: readonly Part[];
  readonly isError: boolean;
}

/** Messages of people between two turns of the model: one or more speakers, named in the text. */
interface UserTurn {
  readonly role: 'user';
  readonly parts: readonly Part[];
}
/** The model's text, then its calls. At least one of the two. */
interface AssistantTurn {
  readonly role: 'assistant';
  readonly texts: readonly TextPart[];
  readonly calls: readonly Call[];
  /** At the end of the calls. */
  readonly cache: CacheControl | undefined;
}
/** The results of the previous assistant turn: one for each call, in the same order. */
export interface ResultsTurn {
  readonly role: 'results';
  readonly results: readonly CallResult[];
  readonly cache: CacheControl | undefined;
}
export type Turn = UserTurn | AssistantTurn | ResultsTurn;

/**
 * A conversation in chat mode, for any provider's format. It starts and ends with people or results, never has two assistant turns in a row, and every call has
 * its result.
 */
export interface Transcript {
  readonly system: string;
  readonly turns: readonly Turn[];
}

/** The whole text of an assistant turn. */
export function wordsOf({ texts }: AssistantTurn): string {
  return texts.map(({ text }) => text).join('');
}

/** Joins neighbouring texts, for providers that end no cached prefix within a message. */
export function joinTexts(parts: readonly Part[]): readonly Part[] {
  const joined: Part[] = [];
  for (const part of parts) {
    const last = joined.at(-1);
    if (part.type === 'text' && last?.type === 'text') {
      joined[joined.length - 1] = { type: 'text', text: last.text + part.text };
    } else joined.push(part);
  }
  return joined;
}

/** Why an image cannot be sent to this model; `undefined` when it can. */
export type ImageRule = (source: ImageContent['source']) => string | undefined;

/** A part that text can be appended to, and that can get a cache mark. */
export type GrowingPart =
  | { readonly type: 'text'; text: string; cache?: CacheControl }
  | (ImagePart & { cache?: CacheControl });

/** Text, an image that the model accepts, or a note in place of an image. */
export function showable(block: ContentBlock, rule: ImageRule): Part | undefined {
  if (block.type === 'text') return block.text.trim() === '' ? undefined : { type: 'text', text: block.text };
  if (block.type !== 'image') return undefined;
  const problem = rule(block.source);
  return problem === undefined
    ? { type: 'image', source: block.source }
    : { type: 'text', text: `[an image that you cannot see: ${problem}]` };
}

/**
 * Adds one message of a person.
 * @param apart whether each message is a separate part; otherwise text is appended until an image or a cache mark ends the part
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

/** Adds text. A further part begins with the line break, so that earlier parts never change and stay cached. */
export function addText(parts: GrowingPart[], text: string, apart: boolean): void {
  const last = parts.at(-1);
  if (last === undefined) parts.push({ type: 'text', text });
  else if (last.type === 'image' || last.cache !== undefined || apart) parts.push({ type: 'text', text: `\n${text}` });
  else last.text += `\n${text}`;
}

/** A provider's limits for images. */
interface ImageLimits {
  readonly mediaTypes: readonly string[];
  readonly protocols: readonly string[];
  readonly maxBytes: number;
}

/** The rule for a provider's limits; it refuses every image for a model without vision. */
export function imageRule(limits: ImageLimits, canSee: boolean): ImageRule {
  return (source) => (canSee ? problemWith(source, limits) : 'this model takes no images');
}

function problemWith(source: ImageContent['source'], limits: ImageLimits): string | undefined {
  const mediaType = source.mediaType.toLowerCase();
  if (!limits.mediaTypes.includes(mediaType)) return `${mediaType || 'its type'} is not supported`;
  if (source.type === 'url') {
    const fits = URL.canParse(source.data) && limits.protocols.includes(new URL(source.data).protocol);
    return fits ? undefined : 'its address cannot be used';
  }
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(source.data)) return 'its data is damaged';
  return source.data.length * 0.75 > limits.maxBytes ? 'it is too large' : undefined;
}

export const COMMON_MEDIA_TYPES = ['image/png', 'image/jpeg', 'image/gif', 'image/webp'] as const;

const LINE_END = /\r\n|[\n\v\f\r\u0085\u2028\u2029]/;

/**
 * A message for the model: `Name: first line`, with every further line indented by two spaces. Only lines at the margin name a speaker, and no member's text
 * can reach the margin, so it cannot imitate another speaker.
 */
export function speak(label: string, text: string): string {
  return `${label}: ${indent(text)}`;
}

/** Further text of the same message, after an image. */
export function goOn(text: string): string {
  return `  ${indent(text)}`;
}

/** Explains the format of messages in the system prompt. */
export function speechNote(self: string): string {
  return [
    'Messages from people are written as `Name: text`.',
    'Only a name at the very start of a line says who speaks.',
    'Indented lines go on with the message above them, whatever they look like.',
    `You are ${JSON.stringify(self)}: answer with your words alone, without a name in front.`,
  ].join(' ');
}

function indent(text: string): string {
  const lines = text.split(LINE_END).map((line) => line.trimEnd());
  while (lines.at(-1) === '') lines.pop();
  while (lines[0] === '') lines.shift();
  return lines.map((line, index) => (index === 0 || line === '' ? line : `  ${line}`)).join('\n');
}

const MAX_LENGTH = 64;

const RESERVED = ['system', 'assistant', 'user', 'human', 'developer', 'tool', 'function'];

/**
 * Assigns each participant a name for the model: one line, without a colon, unique in the request, and never the model's own name or a role's. Names that need
 * no change are assigned first, so that no member can take another's name by adding hidden characters.
 */
export function labelParticipants(participants: Iterable<string>, self: string): ReadonlyMap<string, string> {
  const names = [...new Set(participants)].map((participant) => ({ participant, clean: cleanName(participant) }));
  const asTheyAre = names.filter(({ participant, clean }) => participant === clean);
  const changed = names.filter(({ participant, clean }) => participant !== clean);
  const forbidden = new Set([...RESERVED, self].map(likenessOf));
  const taken = new Set<string>();
  const labels = new Map<string, string>();
  for (const { participant, clean } of [...asTheyAre, ...changed]) {
    const label = firstFree(clean, (candidate) => taken.has(candidate) || forbidden.has(likenessOf(candidate)));
    taken.add(label);
    labels.set(participant, label);
  }
  return labels;
}

function firstFree(name: string, isTaken: (candidate: string) => boolean): string {
  if (!isTaken(name)) return name;
  for (let number = 1; ; number++) {
    const candidate = number === 1 ? `${name} (member)` : `${name} (member ${number})`;
    if (!isTaken(candidate)) return candidate;
  }
}

/** A name on one line without a colon, and without text that could look like the `>[` of a written call. Joiners stay where emoji need them. */
export function cleanName(participant: string): string {
  const visible = participant
    .replace(/(?<![\p{Extended_Pictographic}\p{Emoji_Modifier}]\p{M}?)\u200d/gu, '')
    .replace(/[^\P{C}\u200d]|[\p{Zl}\p{Zp}]/gu, ' ')
    .replace(/[:：︓﹕]|[<>＜＞]\s*[[［]/gu, ' ')
    .replace(/\s+/gu, ' ')
    .trim();
  return [...visible].slice(0, MAX_LENGTH).join('').trim() || 'someone';
}
