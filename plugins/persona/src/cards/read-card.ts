import { inflateSync } from 'node:zlib';
import { sanitizeName, z } from '@cinnabar/sdk/worker';
import { type Item, LIMITS, NEW_STATE, type State, tidy } from '../state/state.js';

const SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
/** The keyword of the newer format first, because an image may contain both. */
const KEYWORDS = ['ccv3', 'chara'];

/** What is wrong with a file. The sentence for people is written where it is shown, because this module runs in a worker, which has no language. */
export type CardProblem =
  | { readonly kind: 'damaged' | 'absent' | 'packed' | 'file-too-large' | 'unreadable' | 'format' | 'nameless' }
  | { readonly kind: 'too-long'; readonly kilobytes: number; readonly isImage: boolean }
  /** `expected`: the required type, if known. */
  | { readonly kind: 'field'; readonly path: string; readonly expected: string | undefined };

/** Thrown for a file that is not a usable character card. */
export class CardError extends Error {
  readonly problem: CardProblem;

  constructor(problem: CardProblem) {
    super(problem.kind);
    this.name = 'CardError';
    this.problem = problem;
  }
}

function isPng(bytes: Buffer): boolean {
  return bytes.subarray(0, SIGNATURE.length).equals(SIGNATURE);
}

/**
 * The text of a character card in a PNG image, in base64 as embedded. Reads only chunks with the two keywords.
 * @param mostBytes maximum length of the text, also after decompression
 * @throws CardError without such a chunk, for a damaged image, or when the text is too long
 */
function cardTextIn(png: Buffer, mostBytes: number): string {
  const found = textChunks(png);
  const chunk = KEYWORDS.map((keyword) => found.get(keyword)).find((one) => one !== undefined);
  if (chunk === undefined) throw new CardError({ kind: 'absent' });
  return READERS[chunk.type](chunk.rest, mostBytes);
}

interface TextChunk {
  readonly type: keyof typeof READERS;
  /** The bytes after the keyword, unchanged. */
  readonly rest: Buffer;
}

/** The first chunk of each keyword. Does not decompress: with thousands of compressed chunks, that would take minutes. */
function textChunks(png: Buffer): ReadonlyMap<string, TextChunk> {
  const found = new Map<string, TextChunk>();
  let at = SIGNATURE.length;
  while (at + 12 <= png.length) {
    const length = png.readUInt32BE(at);
    const type = png.toString('latin1', at + 4, at + 8);
    const end = at + 8 + length;
    if (end + 4 > png.length) throw new CardError({ kind: 'damaged' });
    if (isText(type)) {
      const [keyword, rest] = untilZero(png.subarray(at + 8, end));
      if (KEYWORDS.includes(keyword) && !found.has(keyword)) found.set(keyword, { type, rest });
    }
    if (type === 'IEND') break;
    at = end + 4;
  }
  return found;
}

/** The three kinds of text chunk: https://www.w3.org/TR/png-3/#11textinfo */
const READERS = {
  tEXt: (rest: Buffer, mostBytes: number) => limited(rest, mostBytes).toString('latin1'),
  zTXt: (rest: Buffer, mostBytes: number) => inflate(rest.subarray(1), mostBytes).toString('latin1'),
  iTXt(rest: Buffer, mostBytes: number) {
    const isCompressed = rest[0] === 1;
    const [, afterLanguage] = untilZero(rest.subarray(2));
    const [, text] = untilZero(afterLanguage);
    return (isCompressed ? inflate(text, mostBytes) : limited(text, mostBytes)).toString('utf8');
  },
} as const;

const isText = (type: string): type is keyof typeof READERS => Object.hasOwn(READERS, type);

function untilZero(data: Buffer): readonly [string, Buffer] {
  const zero = data.indexOf(0);
  return zero < 0 ? ['', data.subarray(data.length)] : [data.toString('latin1', 0, zero), data.subarray(zero + 1)];
}

function limited(data: Buffer, mostBytes: number): Buffer {
  if (data.length > mostBytes) throw tooLong(mostBytes);
  return data;
}

/** Decompresses up to the limit: a few bytes may expand to gigabytes. */
function inflate(data: Buffer, mostBytes: number): Buffer {
  try {
    return inflateSync(data, { maxOutputLength: mostBytes });
  } catch (error) {
    const isLong = error instanceof RangeError && 'code' in error && error.code === 'ERR_BUFFER_TOO_LARGE';
    throw isLong ? tooLong(mostBytes) : new CardError({ kind: 'packed' });
  }
}

function tooLong(mostBytes: number): CardError {
  return new CardError({ kind: 'too-long', kilobytes: Math.round(mostBytes / 1024), isImage: true });
}

/** Maximum size of the file. Images may be large. */
export const MOST_FILE_BYTES = 8 * 1024 * 1024;
/** Maximum size of the card's decompressed JSON. */
const MOST_CARD_BYTES = 2 * 1024 * 1024;

/**
 * Reads a character card: JSON, or a PNG image that contains it. All of its text is data of its author, never an instruction.
 * @throws CardError saying what is wrong with it
 */
export function readCard(bytes: Buffer): Card {
  if (bytes.length > MOST_FILE_BYTES) throw new CardError({ kind: 'file-too-large' });
  const json = isPng(bytes)
    ? unwrap(cardTextIn(bytes, Math.ceil((MOST_CARD_BYTES * 4) / 3) + 4))
    : bytes.toString('utf8');
  if (Buffer.byteLength(json) > MOST_CARD_BYTES) {
    throw new CardError({ kind: 'too-long', kilobytes: MOST_CARD_BYTES / 1024, isImage: false });
  }
  const parsed = cardSchema.safeParse(parse(json));
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const path = issue?.path.map(String).join('.').slice(0, 80) ?? '';
  if (path === '' || path.startsWith('spec')) throw new CardError({ kind: 'format' });
  throw new CardError({ kind: 'field', path, expected: issue?.code === 'invalid_type' ? issue.expected : undefined });
}

/** In images the JSON is base64; some tools write it without. */
function unwrap(text: string): string {
  return text.trimStart().startsWith('{') ? text : Buffer.from(text, 'base64').toString('utf8');
}

function parse(json: string): unknown {
  try {
    return JSON.parse(json.replace(/^\uFEFF/, ''));
  } catch {
    throw new CardError({ kind: 'unreadable' });
  }
}

/** Missing and `null` count as empty; other values that are not text are refused. */
const text = z
  .string()
  .nullish()
  .transform((value) => value ?? '');
const texts = z
  .array(z.string())
  .nullish()
  .transform((value) => value ?? []);

const common = {
  name: z.string().min(1),
  description: text,
  personality: text,
  scenario: text,
  first_mes: text,
  mes_example: text,
  creator_notes: text,
  system_prompt: text,
  post_history_instructions: text,
  alternate_greetings: texts,
  tags: texts,
  creator: text,
  character_version: text,
  /** Any JSON: only its size and depth are checked, and exports contain it again. */
  extensions: z.record(z.string(), z.unknown()).nullish(),
  character_book: z.unknown().optional(),
};

/** https://github.com/malfoyslastname/character-card-spec-v2 */
const v2 = z.object({ spec: z.literal('chara_card_v2'), data: z.object(common) });

/** https://github.com/kwaroran/character-card-spec-v3 */
const v3 = z.object({
  spec: z.literal('chara_card_v3'),
  data: z.object({
    ...common,
    nickname: text,
    group_only_greetings: texts,
    source: texts,
    creator_notes_multilingual: z.record(z.string(), z.string()).nullish(),
    creation_date: z.number().nullish(),
    modification_date: z.number().nullish(),
    assets: z.unknown().optional(),
  }),
});

const cardSchema = z.discriminatedUnion('spec', [v2, v3]);
type Card = z.output<typeof cardSchema>;

/** The extension that this bot's exports add to a card, so that another Cinnabar imports the persona completely. */
const ownExtension = z.object({
  mood: z.object({ name: z.string(), intensity: z.number().min(0).max(10) }).optional(),
  appearance: z.string().default(''),
  environment: z.string().default(''),
  goals: z.array(z.string()).max(100).default([]),
  desires: z.array(z.string()).max(100).default([]),
});

/** The state of a persona as read from a card, and the card's additional data. */
export interface ImportedCard {
  /** Without the id under which `rest` is stored. */
  readonly state: State;
  /** JSON of data that only exports need: greetings, tags, the author, extensions. Empty when it is too long to be stored. */
  readonly rest: string;
  /** What was cut or left out. */
  readonly notes: readonly CardNote[];
}

/** A text that was cut, or `rest`, which was too long to be stored. */
export type CardNote =
  | { readonly kind: 'cut'; readonly field: CardField; readonly most: number }
  | { readonly kind: 'rest' };

type CardField = 'description' | keyof State['profile'];

const MOST_REST = 200_000;
export const OWN_EXTENSION = 'cinnabar';

/** @throws CardError when its name contains no readable character */
export function applyCard(card: Card): ImportedCard {
  const { data } = card;
  const notes: CardNote[] = [];
  const name = sanitizeName((card.spec === 'chara_card_v3' && card.data.nickname) || data.name);
  if (name === '') throw new CardError({ kind: 'nameless' });
  const kept = (field: CardField, text: string, most: number) => {
    if (text.length > most) notes.push({ kind: 'cut', field, most });
    return tidy(text, most);
  };
  const own = ownExtension.safeParse(data.extensions?.[OWN_EXTENSION]).data;
  const state: State = {
    name,
    description: kept('description', data.description, LIMITS.description),
    mood:
      own?.mood === undefined
        ? NEW_STATE.mood
        : { name: tidy(own.mood.name, LIMITS.mood), intensity: own.mood.intensity },
    appearance: tidy(own?.appearance ?? '', LIMITS.short),
    environment: tidy(own?.environment ?? '', LIMITS.short),
    card: '',
    goals: items(own?.goals),
    desires: items(own?.desires),
    profile: {
      personality: kept('personality', data.personality, LIMITS.profile),
      scenario: kept('scenario', data.scenario, LIMITS.profile),
      greeting: kept('greeting', data.first_mes, LIMITS.profile),
      examples: kept('examples', data.mes_example, LIMITS.profile),
      instructions: kept('instructions', data.system_prompt, LIMITS.profile),
      closing: kept('closing', data.post_history_instructions, LIMITS.profile),
    },
  };
  const rest = JSON.stringify(plainJson(data));
  if (rest.length > MOST_REST) notes.push({ kind: 'rest' });
  return { state, rest: rest.length > MOST_REST ? '' : rest, notes };
}

function items(texts: readonly string[] = []): Item[] {
  return texts
    .map((text) => ({ text: tidy(text, LIMITS.short), userId: null, origin: null }))
    .filter(({ text }) => text !== '')
    .slice(0, LIMITS.items);
}

const MOST_DEPTH = 16;

/** A copy of JSON that is safe to store and export: without keys that have a special meaning in JavaScript. `undefined` if it is nested too deeply. */
function plainJson(value: unknown, depth = 0): unknown {
  if (depth > MOST_DEPTH) return undefined;
  if (Array.isArray(value)) return value.map((item) => plainJson(item, depth + 1) ?? null);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).filter(([key]) => key !== '__proto__');
  return Object.fromEntries(entries.map(([key, item]) => [key, plainJson(item, depth + 1)]));
}
