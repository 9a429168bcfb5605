import { type Actor, inWords, permissionName, type ToolCall, type ToolSession, t } from '@cinnabar/sdk';
import type {
  APIActionRowComponent,
  APIButtonComponentWithCustomId,
  APIComponentInMessageActionRow,
  PermissionsString,
} from 'discord.js';
import type { ConfirmContext, Rules, Style } from './context.js';
import type { Allowance } from './grants.js';
import type { HeldCall } from './pending-cards.js';
import { type Drawing, drawCard, drawTogether, fitsTogether, inert, shorten } from './render.js';

export const APPROVE = '👍';
export const REFUSE = '👎';

/** U+1F3FB to U+1F3FF; some clients add a variation selector to an emoji. */
const SKIN_TONES = /[\u{1F3FB}-\u{1F3FF}\uFE0F]/gu;

/** The decision that an emoji means, in any skin tone; `undefined` for others. */
export function choiceOf({ id, name }: { readonly id: string | null; readonly name: string | null }) {
  const plain = id === null ? name?.replace(SKIN_TONES, '') : undefined;
  if (plain === APPROVE) return 'approve';
  return plain === REFUSE ? 'refuse' : undefined;
}

/** The meaning of a card's button. */
type Choice = 'approve' | 'here' | 'refuse' | 'reason' | 'task' | 'like' | 'about';
interface DecideHandle {
  customId(choice: Choice): string;
}
type Row = APIActionRowComponent<APIButtonComponentWithCustomId>;

/** The controls of a card, and lines that explain them. */
export interface Controls {
  readonly reactions: boolean;
  readonly buttons: boolean;
  readonly notes: readonly string[];
  /** @param isWhole whether to include buttons for the reactions' decisions, because reactions are not possible */
  row(handle: DecideHandle, isWhole?: boolean): Row;
}

/** The permissions for adding reactions to a message. */
export const REACTION_PERMISSIONS: readonly PermissionsString[] = ['AddReactions', 'ReadMessageHistory'];

/** The note on a card after Discord has refused a reaction although the permissions exist. */
const reactionsRefused = () => t('⚠️ Discord does not let me add reactions here. Please use the buttons.');

/**
 * The controls of a card: reactions if they are wanted and possible; otherwise buttons, with a note about the missing permission. A call of a task always has
 * buttons, since it has more choices than yes and no.
 */
export function controlsFor(
  wanted: Rules['controls'],
  missing: readonly PermissionsString[],
  { session, tool, actor, reading }: Pick<ToolCall, 'session' | 'tool' | 'actor' | 'reading'>,
  allowance: Allowance,
): Controls {
  const hasButtons = wanted !== 'reactions' || session !== undefined || missing.length > 0;
  const shared = reading === 'private' || reading === 'unknown' ? [here(session !== undefined)] : [];
  const decisions = session === undefined ? plainButtons() : taskButtons(allowance);
  // Discord allows at most five buttons in a row.
  const whole = [...decisions.slice(0, 5 - shared.length), ...shared];
  const row = (handle: DecideHandle, isWhole = hasButtons) => rowOf(isWhole ? whole : shared, handle);
  const ofTask =
    session === undefined ? [] : [...mentionNotes(session, actor), ...taskNotes(session.name, tool.name, allowance)];
  const notes = [...ofTask, ...(actor.guildId === null ? [] : resultNotes(reading, session !== undefined))];
  if (wanted === 'buttons') return { reactions: false, buttons: true, notes, row };
  if (missing.length === 0) {
    return { reactions: true, buttons: hasButtons || shared.length > 0, notes, row };
  }
  const names = inWords(missing.map(permissionName));
  const note = t('⚠️ I cannot add reactions here: I am missing the permission {names}. Please use the buttons.', {
    names,
  });
  return { reactions: false, buttons: true, notes: [...notes, note], row };
}

/**
 * A row on every card that is decided by reactions. No tool can send a message with a button, so a message that a member has the bot send cannot look like a
 * card.
 */
export function markRow(handle: DecideHandle): Row {
  return rowOf([{ choice: 'about', label: t('Confirmation'), style: 2 }], handle);
}

interface Button {
  readonly choice: Choice;
  readonly label: string;
  readonly emoji?: string;
  /** 1 is blue, 2 grey, 3 green, 4 red. */
  readonly style: 1 | 2 | 3 | 4;
}

const withReason = (): Button => ({ choice: 'reason', label: t('Deny with a reason…'), style: 2 });
const plainButtons = (): readonly Button[] => [
  { choice: 'approve', label: t('Confirm'), emoji: APPROVE, style: 3 },
  { choice: 'refuse', label: t('Cancel'), emoji: REFUSE, style: 4 },
  withReason(),
];

/** A button that shows the result in the channel although not all of its readers may read it. */
const here = (isTask: boolean): Button => ({
  choice: 'here',
  label: isTask ? t('Use it here') : t('Post it here'),
  style: 1,
});

/** Notes about where the result will be shown: by default not to readers who may not read its source. */
function resultNotes(reading: ToolCall['reading'], isTask: boolean): readonly string[] {
  const here = isTask
    ? t('“Use it here” gives it to the task, which writes in this channel.')
    : t('“Post it here” shows it to all.');
  switch (reading) {
    case 'open':
      return isTask ? [] : [t('📨 The result is posted in this channel.')];
    case 'private':
      return [t('📨 Not everybody in this channel may read that: the result goes to you alone. {here}', { here })];
    case 'unknown':
      return [
        t(
          '📨 The result is told here if everybody here may read what it is from; otherwise it goes to you alone. {here}',
          { here },
        ),
      ];
    default:
      return [];
  }
}

function taskButtons({ any, like }: Allowance): readonly Button[] {
  return [
    { choice: 'approve', label: t('Once'), emoji: '✅', style: 3 },
    ...(any ? [{ choice: 'task', label: t('For this task'), style: 1 } as const] : []),
    ...(like ? [{ choice: 'like', label: t('Like this, in this task…'), style: 1 } as const] : []),
    { choice: 'refuse', label: t('Deny'), emoji: '❌', style: 4 },
    withReason(),
  ];
}

function mentionNotes({ mention, decideWithinMs }: ToolSession, { userId }: Actor): readonly string[] {
  if (mention !== true) return [];
  const hours = decideWithinMs === undefined ? 0 : Math.round(decideWithinMs / 3_600_000);
  return [
    t('🔔 <@{userId}> This waits for your decision{hours, plural, =0 {} other {, up to # h}}.', { userId, hours }),
  ];
}

/** Maximum number of characters of the task's name, so that the card has room for the call. */
const LONGEST_SESSION = 100;

function taskNotes(session: string, tool: string, { any, like }: Allowance): readonly string[] {
  return [
    t('🧵 Part of {task}.', { task: inert(shorten(session, LONGEST_SESSION)) }),
    ...(any
      ? [t('“For this task” allows every later call of {tool} in it, with any arguments.', { tool: inert(tool) })]
      : []),
    ...(like ? [t('“Like this” first shows what exactly it will allow.')] : []),
  ];
}

function rowOf(buttons: readonly Button[], { customId }: DecideHandle): Row {
  return {
    type: 1,
    components: buttons.map(({ choice, label, emoji, style }) => ({
      type: 2,
      style,
      label,
      ...(emoji === undefined ? {} : { emoji: { name: emoji } }),
      custom_id: customId(choice),
    })),
  };
}

type FaceRow = APIActionRowComponent<APIComponentInMessageActionRow>;

/** The parts of a pending card that can change. */
export interface CardState {
  /** Ids of the calls that the member leaves out. */
  readonly excluded: ReadonlySet<string>;
  /** Whether Discord refused the reactions, so that there are buttons instead. */
  readonly reactionsRefused: boolean;
}
export const FRESH: CardState = { excluded: new Set(), reactionsRefused: false };

/** The text and the controls of a card. */
export interface CardFace extends Drawing {
  readonly components: readonly FaceRow[];
}

/** Builds the content of a card for these calls. */
export function faceOf(
  held: readonly [HeldCall, ...HeldCall[]],
  style: Style,
  controls: Controls,
  { decide, exclude }: ConfirmContext['components'],
): (state: CardState) => CardFace {
  const [{ call }] = held;
  return (state) => {
    const { excluded } = state;
    const notes = state.reactionsRefused ? [...controls.notes, reactionsRefused()] : controls.notes;
    const row =
      controls.buttons || state.reactionsRefused
        ? controls.row(decide, state.reactionsRefused || undefined)
        : markRow(decide);
    if (held.length === 1) return { ...drawCard(style, call.card, call.card.arguments, notes), components: [row] };
    const left = held.flatMap((heldCall, index) => (excluded.has(heldCall.call.id) ? [index] : []));
    const together = { cards: held.map((heldCall) => heldCall.call.card), excluded: new Set(left), notes };
    const content = drawTogether(style, together);
    return { content, file: undefined, components: [row, menuRow(held, excluded, exclude.customId())] };
  };
}

/** Discord's limits for a menu. */
const MOST_OPTIONS = 25;
const LONGEST_LABEL = 90;

/** Distributes calls to cards: as many on one as it can show in full. */
export function dealToCards(
  held: readonly HeldCall[],
  style: Style,
  notes: readonly string[],
): readonly (readonly [HeldCall, ...HeldCall[]])[] {
  const [first, ...others] = held;
  if (first === undefined) return [];
  const cards = held.map(({ call }) => call.card);
  const fit = held.length <= MOST_OPTIONS && fitsTogether(style, { cards, notes: [...notes, reactionsRefused()] });
  if (others.length === 0 || fit) return [[first, ...others]];
  const half = Math.ceil(held.length / 2);
  return [...dealToCards(held.slice(0, half), style, notes), ...dealToCards(held.slice(half), style, notes)];
}

/** A menu in which not all calls can be chosen, because 👎 cancels all of them. */
function menuRow(held: readonly HeldCall[], excluded: ReadonlySet<string>, customId: string): FaceRow {
  return {
    type: 1,
    components: [
      {
        type: 3,
        custom_id: customId,
        placeholder: t('Leave out…'),
        min_values: 0,
        max_values: held.length - 1,
        options: held.map(({ call }, index) => ({
          label: shorten(`${index + 1}. ${call.card.sentence}`, LONGEST_LABEL).slice(0, 100),
          value: call.id,
          default: excluded.has(call.id),
        })),
      },
    ],
  };
}
