import type { CallCard } from '@cinnabar/sdk';
import type { Style } from '../settings.js';
import { fits } from './draw.js';
import { inert, literalOf, proseOf } from './value.js';

/** Calls on one card, in the order in which they run. */
export interface Together {
  readonly cards: readonly CallCard[];
  /** Places in the list of those that the member leaves out. */
  readonly excluded: ReadonlySet<number>;
  /** Lines that explain the card itself. */
  readonly notes: readonly string[];
}

/** Draws several calls as one card with a line each. */
export function drawTogether(style: Style, together: Together): string {
  return STYLES[style](together);
}

/** Whether one card has room for all of them in full, whatever is left out. */
export function fitsTogether(style: Style, { cards, notes }: Pick<Together, 'cards' | 'notes'>): boolean {
  return fits(drawTogether(style, { cards, notes, excluded: new Set(cards.keys()) }));
}

const STYLES: Readonly<Record<Style, (together: Together) => string>> = {
  plain: (together) =>
    [
      '📋 Confirmation Required',
      '',
      `I'll do these ${together.cards.length} things:`,
      ...linesOf(together, (card) => textOf(inert(card.sentence), proseFields(card, true), ': ')),
      ...below(together),
      `👍 Confirm ${countOf(together)}  👎 Cancel`,
    ].join('\n'),
  cyberpunk: (together) =>
    [
      '🔐 Security Clearance Required',
      '',
      `ACTIONS: ${together.cards.length}`,
      ...linesOf(together, (card) => textOf(inert(card.action), proseFields(card, false), ': ')),
      ...below(together),
      `React 👍 to authorize ${countOf(together)} | 👎 to abort`,
    ].join('\n'),
  terminal: (together) =>
    [
      'BATCH.exe',
      `Pending operations: ${together.cards.length}`,
      '',
      ...linesOf(together, (card) => textOf(inert(card.terminal.operation), `{ ${literalFields(card)} }`, ' ')),
      ...below(together),
      `Confirm ${countOf(together)}? 👍 Yes / 👎 No`,
    ]
      .map((line) => (line === '' ? '>' : `> ${line}`))
      .join('\n'),
};

function linesOf({ cards, excluded }: Together, textOfCard: (card: CallCard) => string): readonly string[] {
  return cards.map((card, index) => {
    const line = `${index + 1}. ${textOfCard(card)}`;
    return excluded.has(index) ? `~~${line}~~` : line;
  });
}

function textOf(what: string, fields: string, separator: string): string {
  return fields === '' ? what : `${what}${separator}${fields}`;
}

function proseFields({ fields }: CallCard, isSentence: boolean): string {
  return fields
    .filter(({ said }) => !(isSentence && said))
    .map(({ label, value }) => `${inert(label)}: ${inert(onOneLine(proseOf(value)))}`)
    .join('; ');
}

/** No value may pass for another argument. */
function onOneLine(prose: string): string {
  return /[;:]/.test(prose) ? JSON.stringify(prose) : prose;
}

function literalFields({ fields }: CallCard): string {
  return fields.map(({ name, value }) => `${inert(name)}: ${inert(literalOf(value))}`).join(', ');
}

function below({ notes }: Together): readonly string[] {
  return notes.length > 0 ? ['', ...notes, ''] : [''];
}

function countOf({ cards, excluded }: Together): string {
  return excluded.size === 0 ? `all ${cards.length}` : `${cards.length - excluded.size} of ${cards.length}`;
}
