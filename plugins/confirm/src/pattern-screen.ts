import { visible } from '@cinnabar/sdk';
import type {
  APIActionRowComponent,
  APIButtonComponentWithCustomId,
  APIStringSelectComponent,
  ButtonInteraction,
  StringSelectMenuInteraction,
} from 'discord.js';
import type { ConfirmContext } from './context.js';
import { permits } from './grants.js';
import { briefPatternWords, choicesOf, type Pattern, patternLike, usuallyFixed } from './patterns.js';
import type { PendingCard } from './pending-cards.js';
import { inert, literalOf } from './render.js';

/** Lets a member choose which arguments have to stay the same, and shows what that allows. */
export async function showPatternScreen(
  context: ConfirmContext,
  interaction: ButtonInteraction,
  card: PendingCard,
): Promise<void> {
  const { call, allowance } = card.requests[0];
  const fixed = allowance.loosen ? usuallyFixed(call.input) : new Set(choicesOf(call.input));
  await interaction.reply({ ...patternScreen(context, card, fixed), flags: 'Ephemeral' });
}

/** Another choice of arguments: the screen shows what that would allow. */
export async function changePatternScreen(
  context: ConfirmContext,
  interaction: StringSelectMenuInteraction,
  card: PendingCard,
): Promise<void> {
  await interaction.update(patternScreen(context, card, new Set(interaction.values)));
}

/**
 * What the screen shows, where it may be allowed; the screen then says so. The button itself carries the choice, so that an older screen allows
 * what it shows.
 */
export async function acceptPattern(
  { log }: ConfirmContext,
  interaction: ButtonInteraction,
  { callId, requests: [{ call, allowance }] }: PendingCard,
  mask: string,
): Promise<Pattern | undefined> {
  const pattern = patternLike(call, unmask(choicesOf(call.input), mask));
  const words = shownWords(call.tool.name, pattern);
  if (words === undefined || !permits(allowance, pattern)) return undefined;
  await interaction
    .update({ content: `✅ For the rest of this task: ${words}.`, components: [] })
    .catch((error: unknown) => log.debug('a click could not be acknowledged', { callId, error }));
  return pattern;
}

type Rows = [APIActionRowComponent<APIStringSelectComponent>, APIActionRowComponent<APIButtonComponentWithCustomId>];

/** In characters, as they are sent; Discord takes 2,000, and there is more to say. */
const LONGEST_WORDS = 1_700;
/** Discord's limit for the description of an option. */
const LONGEST_DESCRIPTION = 100;
const TOO_MUCH = 'That is more than I can show. Please let fewer arguments change.';

/** What a choice of arguments would allow, with the components to change it and to accept it. */
function patternScreen(
  { components: { patternMenu, allowPattern } }: ConfirmContext,
  { messageId, requests: [{ call, allowance }] }: PendingCard,
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
          custom_id: patternMenu.customId(messageId),
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
          custom_id: allowPattern.customId(messageId, maskOf(choices, fixed)),
        },
      ],
    },
  ];
  const hasMenu = allowance.loosen && choices.length > 0;
  const words = shownWords(call.tool.name, pattern);
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
function shownWords(tool: string, pattern: Pattern): string | undefined {
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
