import type { ComponentHandle, ComponentInteraction } from '@cinnabar/sdk';
import { visible } from '@cinnabar/sdk';
import type {
  APIActionRowComponent,
  APIButtonComponentWithCustomId,
  APIStringSelectComponent,
  ButtonInteraction,
} from 'discord.js';
import { inert, literalOf, shorten } from '../card/value.js';
import { permits } from '../session/allowance.js';
import { choicesOf, type Pattern, patternLike, usuallyFixed } from '../session/pattern.js';
import { patternWords } from '../session/words.js';
import type { Request, WaitingCard } from '../waiting/card.js';
import type { ButtonParts } from './buttons.js';
import { openCard } from './open-card.js';

/** Lets a member say which arguments have to stay the same, and shows what that allows. */
export interface PatternChooser {
  show(interaction: ButtonInteraction, card: WaitingCard, request: Request): Promise<void>;
}
interface Handles {
  /** The menu of arguments, and the button below it. */
  readonly menu: ComponentHandle;
  readonly allow: ComponentHandle;
}

type Rows = [APIActionRowComponent<APIStringSelectComponent>, APIActionRowComponent<APIButtonComponentWithCustomId>];

/** Discord's limits for a message and for the description of an option. */
const MESSAGE_LIMIT = 2000;
const LONGEST_DESCRIPTION = 100;

export function createPatternChooser(handles: Handles): PatternChooser {
  return {
    async show(interaction, card, { call, allowance }) {
      const fixed = allowance.loosen ? usuallyFixed(call.input) : new Set(choicesOf(call.input));
      const { messageId } = card;
      const shown = { menuId: handles.menu.customId(messageId), allow: handles.allow, messageId };
      await interaction.reply({ ...screen(shown, { call, allowance }, fixed), flags: 'Ephemeral' });
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
    await interaction.update(screen(shown, open.request, new Set(interaction.values)));
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
    if (!permits(allowance, pattern)) return;
    await interaction
      .update({ content: `✅ For the rest of this task: ${told(call.tool.name, pattern)}.`, components: [] })
      .catch((error: unknown) => parts.log.debug('a click could not be acknowledged', { callId: card.callId, error }));
    await parts.decide(card, { approved: true, pattern });
  };
}

/** Which menu and which card the screen belongs to. */
interface Shown {
  readonly menuId: string;
  readonly allow: ComponentHandle;
  readonly messageId: string;
}

function screen(
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
            label: visible(name).slice(0, LONGEST_DESCRIPTION),
            value: name,
            description: visible(literalOf(call.input[name])).slice(0, LONGEST_DESCRIPTION),
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
  return {
    content: [
      'This call runs, and for the rest of this task these are no longer asked about:',
      `> ${told(call.tool.name, pattern)}`,
      ...(allowance.loosen && choices.length > 0 ? ['Choose below which arguments have to stay the same.'] : []),
    ].join('\n'),
    components: allowance.loosen && choices.length > 0 ? [menuRow, buttonRow] : [buttonRow],
  };
}

function told(tool: string, pattern: Pattern): string {
  return shorten(inert(patternWords(tool, pattern)), MESSAGE_LIMIT - 300);
}

/** One bit for each argument that stays the same, base 36: it has to fit into a custom id. */
function maskOf(choices: readonly string[], fixed: ReadonlySet<string>): string {
  return choices.reduce((mask, name, index) => mask + (fixed.has(name) ? 2 ** index : 0), 0).toString(36);
}

function unmask(choices: readonly string[], mask: string): ReadonlySet<string> {
  const bits = Number.parseInt(mask, 36);
  return new Set(choices.filter((_, index) => Math.floor(bits / 2 ** index) % 2 === 1));
}
