import { type ComponentHandle, type ComponentInteraction, visible } from '@cinnabar/sdk';
import type {
  APIActionRowComponent,
  APIButtonComponentWithCustomId,
  APIStringSelectComponent,
  ButtonInteraction,
} from 'discord.js';
import { permits } from './grants.js';
import { type ButtonParts, openCard } from './interactions.js';
import { briefPatternWords, choicesOf, type Pattern, patternLike, usuallyFixed } from './patterns.js';
import type { Request, WaitingCard } from './pending-cards.js';
import { inert, literalOf } from './render.js';

/** Lets a member say which arguments have to stay the same, and shows what that allows. */
export interface PatternChooser {
  show(interaction: ButtonInteraction, card: WaitingCard, request: Request): Promise<void>;
}
interface Handles {
  /** The menu of arguments, and the button below it. */
  readonly menu: ComponentHandle;
  readonly allow: ComponentHandle;
}

export function createPatternChooser(handles: Handles): PatternChooser {
  return {
    async show(interaction, card, { call, allowance }) {
      const fixed = allowance.loosen ? usuallyFixed(call.input) : new Set(choicesOf(call.input));
      const { messageId } = card;
      const shown = { menuId: handles.menu.customId(messageId), allow: handles.allow, messageId };
      await interaction.reply({ ...patternScreen(shown, { call, allowance }, fixed), flags: 'Ephemeral' });
    },
  };
}

/** Another choice of arguments: the screen shows what that would allow. */
export function onMenu(parts: ButtonParts, allow: ComponentHandle) {
  return async function choose(interaction: ComponentInteraction, [messageId = '']: readonly string[]): Promise<void> {
    if (!interaction.isStringSelectMenu()) return;
    const open = await openCard(parts, interaction, messageId);
    if (open === undefined) return;
    const shown = { menuId: interaction.customId, allow, messageId };
    await interaction.update(patternScreen(shown, open.request, new Set(interaction.values)));
  };
}

/** What the screen shows is allowed: the button itself carries the choice, so that an older screen allows what it shows. */
export function onAllow(parts: ButtonParts) {
  return async function allow(interaction: ComponentInteraction, [messageId = '', mask = '']: readonly string[]) {
    if (!interaction.isButton()) return;
    const open = await openCard(parts, interaction, messageId);
    if (open === undefined) return;
    const { card, request } = open;
    const { call, allowance } = request;
    const pattern = patternLike(call, unmask(choicesOf(call.input), mask));
    const words = told(call.tool.name, pattern);
    if (words === undefined || !permits(allowance, pattern)) return;
    await interaction
      .update({ content: `✅ For the rest of this task: ${words}.`, components: [] })
      .catch((error: unknown) => parts.log.debug('a click could not be acknowledged', { callId: card.callId, error }));
    await parts.decide(card, { approved: true, pattern });
  };
}

type Rows = [APIActionRowComponent<APIStringSelectComponent>, APIActionRowComponent<APIButtonComponentWithCustomId>];

/** In characters, as they are sent; Discord takes 2,000, and there is more to say. */
const LONGEST_WORDS = 1_700;
/** Discord's limit for the description of an option. */
const LONGEST_DESCRIPTION = 100;
const TOO_MUCH = 'That is more than I can show. Please let fewer arguments change.';

/** Which menu and which card the screen belongs to. */
interface Shown {
  readonly menuId: string;
  readonly allow: ComponentHandle;
  readonly messageId: string;
}

/** What a choice of arguments would allow, with the means to change and to take it. */
function patternScreen(
  { menuId, allow, messageId }: Shown,
  { call, allowance }: Pick<Request, 'call' | 'allowance'>,
  fixed: ReadonlySet<string>,
) {
  const choices = choicesOf(call.input);
  const pattern = patternLike(call, fixed);
  const [menuRow, buttonRow]: Rows = [
    {
      type: 1,
      components: [
        {
          type: 3,
          custom_id: menuId,
          placeholder: 'Nothing has to stay the same',
          min_values: 0,
          max_values: choices.length,
          options: choices.map((name) => ({
            label: name,
            value: name,
            description: clip(visible(literalOf(call.input[name]))),
            default: fixed.has(name),
          })),
        },
      ],
    },
    {
      type: 1,
      components: [
        {
          type: 2,
          style: 3,
          label: 'Allow exactly this',
          custom_id: allow.customId(messageId, maskOf(choices, fixed)),
        },
      ],
    },
  ];
  const hasMenu = allowance.loosen && choices.length > 0;
  const words = told(call.tool.name, pattern);
  return {
    content: [
      ...(words === undefined
        ? [TOO_MUCH]
        : ['This call runs, and for the rest of this task these are no longer asked about:', `> ${words}`]),
      ...(hasMenu ? ['Choose below which arguments have to stay the same.'] : []),
    ].join('\n'),
    // What cannot be shown cannot be allowed.
    components: [...(hasMenu ? [menuRow] : []), ...(words === undefined ? [] : [buttonRow])],
  };
}

/** `undefined` when it cannot be said in one message. */
function told(tool: string, pattern: Pattern): string | undefined {
  const words = briefPatternWords(tool, pattern, (text) => inert(text).length <= LONGEST_WORDS);
  return words === undefined ? undefined : inert(words);
}

/** Never half of a character. */
function clip(text: string): string {
  return text.slice(0, LONGEST_DESCRIPTION).replace(/[\uD800-\uDBFF]$/, '');
}

/** One bit for each argument that stays the same, base 36: it has to fit into a custom id. */
function maskOf(choices: readonly string[], fixed: ReadonlySet<string>): string {
  return choices.reduce((mask, name, index) => mask + (fixed.has(name) ? 2 ** index : 0), 0).toString(36);
}

/** Which arguments a button says stay the same. */
function unmask(choices: readonly string[], mask: string): ReadonlySet<string> {
  const bits = Number.parseInt(mask, 36);
  return new Set(choices.filter((_, index) => Math.floor(bits / 2 ** index) % 2 === 1));
}
