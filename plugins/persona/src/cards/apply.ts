import { sanitizeName, UserError } from '@cinnabar/sdk/worker';
import { tidy } from '../actions/text.js';
import { type Item, LIMITS, NEW_STATE, type State } from '../state/schema.js';
import { plainJson } from './plain.js';
import { type Card, ownExtension } from './schema.js';

/** A card as a persona, and what is kept of it beside that. */
export interface ImportedCard {
  /** Without the id under which the rest is kept. */
  readonly state: State;
  /** What only an export needs: greetings, tags, the author, extensions; JSON. Empty when it is too long to be kept. */
  readonly rest: string;
  /** What had to be left out, in sentences. */
  readonly notes: readonly string[];
}

const MOST_REST = 200_000;
export const OWN_EXTENSION = 'cinnabar';

/** @throws UserError when nothing readable is left of its name */
export function applyCard(card: Card): ImportedCard {
  const { data } = card;
  const notes: string[] = [];
  const name = sanitizeName((card.spec === 'chara_card_v3' && card.data.nickname) || data.name);
  if (name === '') throw new UserError('This character card has no name that could be used.');
  const kept = (label: string, text: string, most: number) => {
    if (text.length > most) notes.push(`Its ${label} was cut to ${most} characters.`);
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
      greeting: kept('first message', data.first_mes, LIMITS.profile),
      examples: kept('example dialogue', data.mes_example, LIMITS.profile),
      instructions: kept('system prompt', data.system_prompt, LIMITS.profile),
      closing: kept('closing instructions', data.post_history_instructions, LIMITS.profile),
    },
  };
  const rest = JSON.stringify(plainJson(data));
  if (rest.length > MOST_REST) notes.push('What it holds beside the character is too long to be kept for an export.');
  return { state, rest: rest.length > MOST_REST ? '' : rest, notes };
}

function items(texts: readonly string[] = []): Item[] {
  return texts
    .map((text) => ({ text: tidy(text, LIMITS.short), userId: null, origin: null }))
    .filter(({ text }) => text !== '')
    .slice(0, LIMITS.items);
}
