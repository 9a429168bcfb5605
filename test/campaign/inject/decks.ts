import type { Dice } from '../confirm/dice.js';
import { DESCRIPTIONS, FILES, NAMES, TEXTS } from './corpus.js';

/** Where an attempt is put in place, and the texts that can stand there. */
export const SURFACES = {
  nickname: NAMES,
  webhook: NAMES,
  channel: NAMES,
  topic: TEXTS,
  thread: NAMES,
  guild: NAMES,
  role: NAMES,
  file: FILES,
  'file text': TEXTS,
  message: TEXTS,
  reply: TEXTS,
  edit: TEXTS,
  embed: TEXTS,
  'slash command': TEXTS,
  'text of the bot': TEXTS,
  arguments: TEXTS,
  'tool result': TEXTS,
  card: TEXTS,
  refusal: TEXTS,
  'tool description': DESCRIPTIONS,
  'persona name': NAMES,
  'persona text': TEXTS,
  memory: TEXTS,
  goal: TEXTS,
  answer: TEXTS,
} as const satisfies Record<string, Readonly<Record<string, string>>>;
export type Surface = keyof typeof SURFACES;

/** One text in one place. */
export interface Attempt {
  readonly name: string;
  readonly text: string;
}

/** Deals the attempts of each surface, each once before any comes again, in the order of a seed. */
export interface Decks {
  draw(surface: Surface): Attempt;
  /** Names of what has been drawn since the last time. */
  takeDrawn(): readonly string[];
  /** How many different attempts have been drawn so far. */
  readonly tried: number;
}

export const ATTEMPTS = Object.values(SURFACES).reduce((sum, texts) => sum + Object.keys(texts).length, 0);

export function createDecks(dice: Dice): Decks {
  const decks = new Map<Surface, Attempt[]>();
  // Tools are described in every request.
  const tried = new Set(attemptsOf('tool description').map(({ name }) => name));
  let drawn: string[] = [];
  return {
    get tried() {
      return tried.size;
    },
    draw(surface) {
      const deck = decks.get(surface) ?? [];
      if (deck.length === 0) deck.push(...shuffled(attemptsOf(surface), dice));
      decks.set(surface, deck);
      const attempt = deck.pop();
      if (attempt === undefined) throw new Error(`there are no attempts for ${surface}`);
      tried.add(attempt.name);
      drawn.push(attempt.name);
      return attempt;
    },
    takeDrawn() {
      const names = drawn;
      drawn = [];
      return names;
    },
  };
}

export function attemptsOf(surface: Surface): readonly Attempt[] {
  return Object.entries(SURFACES[surface]).map(([name, text]) => ({ name: `${surface}/${name}`, text }));
}

function shuffled<T>(items: readonly T[], dice: Dice): readonly T[] {
  return items
    .map((item) => ({ item, at: dice.next() }))
    .sort((a, b) => a.at - b.at)
    .map(({ item }) => item);
}
