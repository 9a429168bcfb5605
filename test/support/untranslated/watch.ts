import { type Language, z } from '@cinnabar/sdk';
import { type SourceText, sourceTexts, textsOf, translatedMessages, unstyled } from './source-texts.js';

/** A text from the code that the bot sent in English, although its reader might use German. */
interface Untranslated extends SourceText {
  /** The sent text. */
  readonly sent: string;
}

export interface Watch {
  /**
   * An English language that records the messages that were looked up for a member or guild and are in the German catalogues. It does not record look-ups
   * outside of any language (background work for no user).
   */
  readonly language: Language;
  /** Records a request to Discord. */
  sent(exchange: unknown): void;
  /** Compares the recorded requests with the messages that were looked up since the last call. */
  untranslated(): readonly Untranslated[];
}

/** Texts of stand-ins for models and agents that also occur in the code. */
const BY_STAND_INS = /^(?:It waits for you\.$|denied: Error: request to call tool denied)/;

/** The checked part of a `RestExchange`. */
const request = z.object({ method: z.string(), route: z.string(), requestBody: z.unknown().optional() });

/** Created once, since the code does not change. */
let known:
  | { readonly index: ReadonlyMap<string, readonly SourceText[]>; readonly german: ReadonlySet<string> }
  | undefined;

/** Searches the bot's requests to Discord for texts from the code that were not looked up in a catalogue. */
export function createWatch(): Watch {
  known ??= { index: indexed(sourceTexts()), german: translatedMessages('de') };
  const { index, german } = known;
  const lookedUp = new Set<string>();
  const texts = new Set<string>();
  return {
    language: {
      locale: 'en',
      translate(message) {
        if (german.has(message)) lookedUp.add(message);
        return undefined;
      },
    },
    sent(exchange) {
      const { method, route, requestBody } = request.parse(exchange);
      if (method === 'GET' || route.endsWith('/commands')) return;
      for (const text of shownIn(requestBody)) if (!BY_STAND_INS.test(text)) texts.add(text);
    },
    untranslated() {
      const written = [...lookedUp]
        .flatMap(textsOf)
        .map(unstyled)
        .filter((text) => LETTER.test(text));
      const found = [...texts].flatMap((sent) => [...foreignIn(sent, index, written)]);
      texts.clear();
      lookedUp.clear();
      return found;
    },
  };
}

function indexed(all: readonly SourceText[]): ReadonlyMap<string, readonly SourceText[]> {
  const index = new Map<string, SourceText[]>();
  for (const source of all) {
    const key = keyOf(source.text);
    const entries = index.get(key) ?? [];
    const same = entries.findIndex(({ text }) => text === source.text);
    if (same === -1) entries.push(source);
    // The text occurs in several files, so its source is unknown.
    else if (source.isExempt) entries[same] = source;
    index.set(key, entries);
  }
  return index;
}

const WORD = /[\p{L}\p{N}]+/gu;

/** The first two words of a text. */
const keyOf = (text: string) => (text.match(WORD) ?? []).slice(0, 2).join(' ');

/** Texts from the code that occur in a sent text, but in no looked-up message. */
function* foreignIn(
  sent: string,
  index: ReadonlyMap<string, readonly SourceText[]>,
  written: readonly string[],
): Generator<Untranslated> {
  // Text of members is escaped; code and quotations are not the bot's text.
  const text = unstyled(sent).replace(/\\([^\p{L}\p{N}\s])/gu, '$1');
  const spoken = text.replace(/```[\s\S]*?```|`[^`\n]*`|“[^”\n]*”|„[^“\n]*“/g, (code) => ' '.repeat(code.length));
  const spans: { readonly start: number; readonly end: number; readonly source: SourceText }[] = [];
  let covered: readonly boolean[] | undefined;
  const words = [...spoken.matchAll(WORD)];
  for (const [at, { 0: word, index: start }] of words.entries()) {
    const key = `${word} ${words[at + 1]?.[0]}`;
    for (const source of index.get(key) ?? []) {
      const end = start + source.text.length;
      if (!text.startsWith(source.text, start) || !isBetweenWords(text, end)) continue;
      covered ??= coverage(text, written);
      const isWritten = covered.slice(start, end).every((is, place) => is || !LETTER.test(text[start + place] ?? ''));
      if (!isWritten) spans.push({ start, end, source });
    }
  }
  if (spans.some(({ source }) => source.isExempt)) return;
  for (const one of spans) {
    const isWithin = spans.some((other) => other !== one && other.start <= one.start && other.end >= one.end);
    if (!isWithin) yield { ...one.source, sent };
  }
}

const LETTER = /[\p{L}\p{N}]/u;

/** `must be a` is not a part of `must be at`. */
const isBetweenWords = (text: string, at: number) => !/^[\p{L}\p{N}]{2}/u.test(text.slice(at - 1, at + 1));

/** For each character of a text, whether it belongs to one of the parts, as whole words. */
function coverage(text: string, parts: readonly string[]): readonly boolean[] {
  const covered = new Array<boolean>(text.length).fill(false);
  for (const part of parts) {
    for (let at = text.indexOf(part); at !== -1; at = text.indexOf(part, at + 1)) {
      if (isBetweenWords(text, at) && isBetweenWords(text, at + part.length)) covered.fill(true, at, at + part.length);
    }
  }
  return covered;
}

/** Keys of a request's body that members do not read, or that repeat another one. */
const UNSEEN = new Set(['custom_id', 'id', 'url', 'type', 'nonce', 'filename', 'proxy_url', 'token']);

/** All visible texts of a request's body: contents, embeds, components, modals, suggestions, names of threads. */
function* shownIn(body: unknown): Generator<string> {
  if (typeof body === 'string') yield body;
  else if (Array.isArray(body)) for (const one of body) yield* shownIn(one);
  else if (typeof body === 'object' && body !== null) {
    for (const [key, value] of Object.entries(body)) if (!UNSEEN.has(key)) yield* shownIn(value);
  }
}
