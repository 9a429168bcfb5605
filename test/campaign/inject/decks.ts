import type { Dice } from '../confirm/dice.js';
import { DESCRIPTIONS, FILES, NAMES, TEXTS } from './corpus.js';

/** The surfaces on which attempts are placed, and the texts that each can contain. */
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
type Surface = keyof typeof SURFACES;

/** One text on one surface. */
export interface Attempt {
  readonly name: string;
  readonly text: string;
}

/** Draws the attempts of each surface in random order, each once before any is repeated. */
export interface Decks {
  draw(surface: Surface): Attempt;
  /** Names of the attempts that were drawn since the last call. */
  takeDrawn(): readonly string[];
  /** Number of different attempts so far. */
  readonly tried: number;
}

export const ATTEMPTS = Object.values(SURFACES).reduce((sum, texts) => sum + Object.keys(texts).length, 0);

export function createDecks(dice: Dice): Decks {
  const decks = new Map<Surface, Attempt[]>();
  // Every request contains the tools' descriptions.
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
