import type { ComponentHandle } from '@cinnabar/sdk';
import type { APIActionRowComponent, APIComponentInMessageActionRow } from 'discord.js';
import { type Drawing, drawCard } from '../card/draw.js';
import { drawTogether, fitsTogether } from '../card/together.js';
import { shorten } from '../card/value.js';
import type { Style } from '../settings.js';
import type { Question } from './ask.js';
import { type Controls, type DecideHandle, markRow, REACTIONS_REFUSED } from './controls.js';

type Row = APIActionRowComponent<APIComponentInMessageActionRow>;

/** What can change about a card while it waits. */
export interface CardState {
  /** Ids of the calls that the member leaves out. */
  readonly excluded: ReadonlySet<string>;
  /** Discord took no reactions, so that there are buttons in their place. */
  readonly reactionsRefused: boolean;
}
export const FRESH: CardState = { excluded: new Set(), reactionsRefused: false };

/** What a card says and is decided with. */
export interface Face extends Drawing {
  readonly components: readonly Row[];
}

export interface FaceParts {
  readonly style: Style;
  readonly controls: Controls;
  readonly buttons: DecideHandle;
  /** The menu of what to leave out. */
  readonly exclusions: Pick<ComponentHandle, 'customId'>;
}

/** Builds the face of a card for these calls. */
export function faceOf(
  questions: readonly [Question, ...Question[]],
  { style, controls, buttons, exclusions }: FaceParts,
): (state: CardState) => Face {
  const [{ call }] = questions;
  return (state) => {
    const { reactionsRefused, excluded } = state;
    const notes = reactionsRefused ? [...controls.notes, REACTIONS_REFUSED] : controls.notes;
    const row =
      controls.buttons || reactionsRefused ? controls.row(buttons, reactionsRefused || undefined) : markRow(buttons);
    if (questions.length === 1) return { ...drawCard(style, call.card, call.card.arguments, notes), components: [row] };
    const left = questions.flatMap((question, index) => (excluded.has(question.call.id) ? [index] : []));
    const together = { cards: questions.map((question) => question.call.card), excluded: new Set(left), notes };
    const content = drawTogether(style, together);
    return { content, file: undefined, components: [row, menuRow(questions, excluded, exclusions.customId())] };
  };
}

/** Discord's limits for a menu. */
const MOST_OPTIONS = 25;
const LONGEST_LABEL = 90;

/** Deals calls to cards: as many on one as can be shown in full. */
export function dealToCards(
  questions: readonly Question[],
  style: Style,
  notes: readonly string[],
): readonly (readonly [Question, ...Question[]])[] {
  const [first, ...others] = questions;
  if (first === undefined) return [];
  const cards = questions.map(({ call }) => call.card);
  const fit = questions.length <= MOST_OPTIONS && fitsTogether(style, { cards, notes: [...notes, REACTIONS_REFUSED] });
  if (others.length === 0 || fit) return [[first, ...others]];
  const half = Math.ceil(questions.length / 2);
  return [...dealToCards(questions.slice(0, half), style, notes), ...dealToCards(questions.slice(half), style, notes)];
}

/** Not all of them: to run none there is 👎. */
function menuRow(questions: readonly Question[], excluded: ReadonlySet<string>, customId: string): Row {
  return {
    type: 1,
    components: [
      {
        type: 3,
        custom_id: customId,
        placeholder: 'Leave out…',
        min_values: 0,
        max_values: questions.length - 1,
        options: questions.map(({ call }, index) => ({
          label: shorten(`${index + 1}. ${call.card.sentence}`, LONGEST_LABEL).slice(0, 100),
          value: call.id,
          default: excluded.has(call.id),
        })),
      },
    ],
  };
}
