import { asNotice, type CallCard, plainText, t, visible } from '@cinnabar/sdk';
import type { Style } from './context.js';

const STYLES: Readonly<Record<Style, (sheet: Sheet) => string>> = {
  plain: plainCard,
  cyberpunk: cyberpunkCard,
  terminal: terminalCard,
};

/** Discord's limit for a message, in UTF-16 units. */
const MESSAGE_LIMIT = 2000;
/** Lengths to which texts are cut, one after another, until the card fits. */
const CUTS = [400, 150, 50, 15];

const ARGUMENTS_FILE = 'arguments.json';

export interface Drawing {
  readonly content: string;
  /** Set when the card cannot show everything: it says so, and this file is attached. */
  readonly file: { readonly name: string; readonly json: string } | undefined;
}

/**
 * Renders the card of a call. It always fits in a message, also with its ending; text that does not fit is complete in an attached file.
 * @param notes lines about the card itself, such as a missing permission
 */
export function drawCard(
  style: Style,
  card: CallCard,
  input: Readonly<Record<string, unknown>>,
  notes: readonly string[] = [],
): Drawing {
  // A text longer than a message never fits, so it is cut before it is rendered.
  const whole = STYLES[style]({ card, longest: MESSAGE_LIMIT, notes });
  if (fits(whole)) return { content: whole, file: undefined };
  const file = { name: ARGUMENTS_FILE, json: jsonOf(input) };
  const withNote = [
    t('📎 Too long to show here: every argument is in {file}, in full.', { file: ARGUMENTS_FILE }),
    ...notes,
  ];
  for (const longest of CUTS) {
    const content = STYLES[style]({ card, longest, notes: withNote });
    if (fits(content)) return { content, file };
  }
  const bare = { ...card, fields: [] };
  return { content: STYLES[style]({ card: bare, longest: 15, notes: withNote }), file };
}

/** Whether a card fits in a message with any ending. */
function fits(content: string): boolean {
  return longestEnded(content) <= MESSAGE_LIMIT;
}

/** Readable JSON in which hidden characters are written as `\uXXXX`, which means the same. */
function jsonOf(input: Readonly<Record<string, unknown>>): string {
  return JSON.stringify(input, null, 2).replace(
    /(?!\n)[\p{Cc}\p{Cf}\p{Co}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800]/gu,
    (character) => character.replace(/[\s\S]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`),
  );
}

/** The style "Simple & Clean". */
function plainCard({ card, longest, notes }: Sheet): string {
  const fields = card.fields
    .filter(({ said }) => !said)
    .map(({ label, value }) => `• ${inert(label)}: ${inert(shorten(proseOf(value), longest))}`);
  return [
    t('📋 Confirmation Required'),
    '',
    `${inert(shorten(card.sentence, longest))}${fields.length > 0 ? ':' : '.'}`,
    ...fields,
    ...(notes.length > 0 ? ['', ...notes] : []),
    '',
    t('👍 Confirm  👎 Cancel'),
  ].join('\n');
}

function cyberpunkCard({ card, longest, notes }: Sheet): string {
  const fields = card.fields.map(({ label, value }, index) => {
    const branch = index === card.fields.length - 1 ? '└─' : '├─';
    return `${branch} ${inert(label)}: ${inert(shorten(proseOf(value), longest))}`;
  });
  return [
    t('🔐 Security Clearance Required'),
    '',
    t('ACTION: {action}', { action: inert(card.action) }),
    ...fields,
    ...(notes.length > 0 ? ['', ...notes] : []),
    '',
    t('React 👍 to authorize | 👎 to abort'),
  ].join('\n');
}

function terminalCard({ card, longest, notes }: Sheet): string {
  const { program, operation, record, keys = {} } = card.terminal;
  const fields = card.fields.map(
    ({ name, value }) =>
      `  ${identifier((Object.hasOwn(keys, name) ? keys[name] : undefined) ?? name)}: ${inert(shorten(literalOf(value), longest))}`,
  );
  const last = fields.length - 1;
  return [
    `${identifier(program)}.exe`,
    t('Pending operation: {operation}', { operation: identifier(operation) }),
    ...(fields.length > 0
      ? ['', `${identifier(record)} {`, ...fields.map((field, index) => (index < last ? `${field},` : field)), '}']
      : []),
    ...(notes.length > 0 ? ['', ...notes] : []),
    '',
    t('Confirm? 👍 Yes / 👎 No'),
  ]
    .map((line) => (line === '' ? '>' : `> ${line}`))
    .join('\n');
}

/** A name in plain text: underscores inside a word are no markup, so PARTY_MANAGER needs no escape. */
function identifier(name: string): string {
  return /^[A-Za-z0-9]+(?:_[A-Za-z0-9]+)*$/.test(name) ? name : inert(name);
}

/** The input of a style: a call's card, the maximum length of a text, and lines about the card itself. */
interface Sheet {
  readonly card: CallCard;
  /** In characters, for the sentence and for each value. */
  readonly longest: number;
  readonly notes: readonly string[];
}

/** Calls on one card, in the order in which they are executed. */
interface Together {
  readonly cards: readonly CallCard[];
  /** Indexes of those that the member leaves out. */
  readonly excluded: ReadonlySet<number>;
  /** Lines about the card itself. */
  readonly notes: readonly string[];
}

/** Renders several calls as one card with a line for each. */
export function drawTogether(style: Style, together: Together): string {
  return LISTS[style](together);
}

/** Whether one card can show all calls in full, whichever are left out. */
export function fitsTogether(style: Style, { cards, notes }: Pick<Together, 'cards' | 'notes'>): boolean {
  return fits(drawTogether(style, { cards, notes, excluded: new Set(cards.keys()) }));
}

const LISTS: Readonly<Record<Style, (together: Together) => string>> = {
  plain: (together) =>
    [
      t('📋 Confirmation Required'),
      '',
      t("I'll do these {count} things:", { count: together.cards.length }),
      ...listLines(together, (card) => textOf(inert(card.sentence), proseFields(card, true), ': ')),
      ...below(together),
      t('👍 Confirm {which}  👎 Cancel', { which: countOf(together) }),
    ].join('\n'),
  cyberpunk: (together) =>
    [
      t('🔐 Security Clearance Required'),
      '',
      t('ACTIONS: {count}', { count: together.cards.length }),
      ...listLines(together, (card) => textOf(inert(card.action), proseFields(card, false), ': ')),
      ...below(together),
      t('React 👍 to authorize {which} | 👎 to abort', { which: countOf(together) }),
    ].join('\n'),
  terminal: (together) =>
    [
      'BATCH.exe',
      t('Pending operations: {count}', { count: together.cards.length }),
      '',
      ...listLines(together, (card) => textOf(inert(card.terminal.operation), `{ ${literalFields(card)} }`, ' ')),
      ...below(together),
      t('Confirm {which}? 👍 Yes / 👎 No', { which: countOf(together) }),
    ]
      .map((line) => (line === '' ? '>' : `> ${line}`))
      .join('\n'),
};

function listLines({ cards, excluded }: Together, textOfCard: (card: CallCard) => string): readonly string[] {
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
    .map(({ label, value }) => `${inert(label)}: ${inert(quotedWithSeparators(proseOf(value)))}`)
    .join('; ');
}

/** Quotes a value that contains separators, so that it cannot look like another argument. */
function quotedWithSeparators(prose: string): string {
  return /[;:]/.test(prose) ? JSON.stringify(prose) : prose;
}

function literalFields({ fields }: CallCard): string {
  return fields.map(({ name, value }) => `${inert(name)}: ${inert(literalOf(value))}`).join(', ');
}

function below({ notes }: Together): readonly string[] {
  return notes.length > 0 ? ['', ...notes, ''] : [''];
}

function countOf({ cards, excluded }: Together): string {
  return excluded.size === 0
    ? t('all {count}', { count: cards.length })
    : t('{left} of {count}', { left: cards.length - excluded.size, count: cards.length });
}

/** The ending of a card that can no longer be decided, or whose decision was not answered before the bot was restarted. */
export type Ending = (typeof ENDINGS)[number];

const ENDINGS = [
  'timedOut',
  'withdrawn',
  'forgotten',
  'undelivered',
  'restarted',
  'pressed',
  'cutOff',
  'partly',
  'over',
  'cancelled',
  'done',
  'failed',
  'refused',
  'unknown',
] as const;

const endingLines = (): Readonly<Record<Ending, string>> => ({
  timedOut: t('⏱️ Request timed out'),
  withdrawn: t('🛑 Request withdrawn'),
  forgotten: t('🗑️ Not run: the data of the member who asked was deleted.'),
  undelivered: t('🔁 Not run: Discord did not confirm this card in time. Please ask again.'),
  restarted: t('🔁 Not run: I was restarted. Please ask again.'),
  pressed: t('🔁 Not run: I was restarted before I could act on your 👍. Please ask again.'),
  cutOff: t('🔁 Not run: I was cut off from Discord and saw your 👍 too late. Please ask again.'),
  partly: t('🔁 I was restarted in the middle of this. What became of each is in my answer below.'),
  over: t('🔁 Not run: this request was over already. Please ask again.'),
  cancelled: t('🛑 Cancelled: it was not run.'),
  done: t('✅ Done.'),
  failed: t('⚠️ It failed.'),
  refused: t('⛔ Not run.'),
  unknown: t(
    '❓ I was interrupted while doing this and do not know whether it took effect. Please check before you ask again.',
  ),
});

/** The call was or may have been executed: the card stays readable. */
const RAN: ReadonlySet<Ending> = new Set<Ending>(['done', 'failed', 'unknown', 'partly']);

/** Whether the card with this ending also says who decided it. */
export const showsVerdict = (ending: Ending): boolean => RAN.has(ending);

export const lineOf = (ending: Ending): string => endingLines()[ending];

/** A member's decision as a card shows it. */
export interface Verdict {
  readonly approved: boolean;
  readonly userId: string;
  /** In ms since the Unix epoch; unknown after a restart. */
  readonly at?: number;
}

/**
 * The card with its ending below it; struck through line by line when no call was executed. It is marked as a notice, because it loses the buttons by which
 * models' contexts recognise a card.
 */
export function ended(content: string, ending: Ending, verdict?: Verdict): string {
  const decided = verdict === undefined ? [] : [verdictLine(verdict)];
  return asNotice([RAN.has(ending) ? content : struckThrough(content), '', ...decided, lineOf(ending)].join('\n'));
}

/** The card with who decided it, and when. */
export function decided(content: string, verdict: Verdict): string {
  return [verdict.approved ? content : struckThrough(content), '', verdictLine(verdict)].join('\n');
}

function verdictLine({ approved, userId, at }: Verdict): string {
  const when = at === undefined ? '' : ` <t:${Math.floor(at / 1_000)}:f>`;
  return approved
    ? t('✅ Confirmed by <@{userId}>{when}', { userId, when })
    : t('❌ Cancelled by <@{userId}>{when}', { userId, when });
}

function struckThrough(content: string): string {
  return content
    .split('\n')
    .map((line) => (line.trim() === '' || line.startsWith('~~') ? line : `~~${line}~~`))
    .join('\n');
}

const LONGEST_ID = '9'.repeat(20);
const LATEST_MS = 9_999_999_999_999;

/** The maximum length of a card, in UTF-16 units. */
export function longestEnded(content: string): number {
  const verdict = { approved: true, userId: LONGEST_ID, at: LATEST_MS };
  const lengths = ENDINGS.map((ending) => ended(content, ending, RAN.has(ending) ? verdict : undefined).length);
  return Math.max(...lengths, decided(content, { ...verdict, approved: false }).length);
}

/** Text inside a card: no hidden characters, one line, and no markup except mentions of channels. */
export function inert(text: string): string {
  const parts = text.split(CHANNEL_MENTION);
  return parts.map((part, n) => (n % 2 === 1 ? part : plainText(visible(part)))).join('');
}

/** The only markup that stays: it notifies no one, and each client shows the channel's name only to those who may see it. */
const CHANNEL_MENTION = /(<#\d{17,20}>)/;

/** Cuts a text, never inside a surrogate pair, and says how long it is. */
export function shorten(text: string, longest: number): string {
  if (text.length <= longest) return text;
  const characters = [...text];
  if (characters.length <= longest) return text;
  return t('{start} … ({count} characters in all)', {
    start: characters.slice(0, longest).join(''),
    count: characters.length,
  });
}

/** A value for people, unescaped: lists with commas, "None" for nothing. */
function proseOf(value: unknown): string {
  if (value === undefined || value === null) return t('None');
  if (typeof value === 'string') return value === '' || value === t('None') ? JSON.stringify(value) : value;
  if (!Array.isArray(value)) return literalOf(value);
  if (value.length === 0) return t('None');
  const plain = value.every((item) => typeof item === 'string' && isOneWordOfAList(item));
  return value.map((item) => (plain ? String(item) : literalOf(item))).join(', ');
}

/** Whether an item can be listed without quotes and still be distinguished from its neighbours. */
function isOneWordOfAList(item: string): boolean {
  return item.trim() === item && item !== '' && item !== t('None') && !item.includes(',');
}

/** A value as code, unescaped: `["Assault Rifles", "Body Armor"]`. */
export function literalOf(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(literalOf).join(', ')}]`;
  if (typeof value === 'object' && value !== null) {
    const entries = Object.entries(value).map(([key, inner]) => `${JSON.stringify(key)}: ${literalOf(inner)}`);
    return entries.length === 0 ? '{}' : `{ ${entries.join(', ')} }`;
  }
  return JSON.stringify(value) ?? 'null';
}
