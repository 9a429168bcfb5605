import { z } from '@cinnabar/sdk';
import type { State } from '../state/state.js';
import { OWN_EXTENSION } from './read-card.js';

type CardVersion = 'v2' | 'v3';

const REST = z.looseObject({ extensions: z.record(z.string(), z.unknown()).nullish() });

/**
 * A persona as a character card. What an imported card held beside the character is given back.
 * @param rest as `applyCard` gave it; empty for a persona that was made here
 */
export function writeCard(state: State, name: string, rest: string, version: CardVersion): string {
  const before = REST.safeParse(rest === '' ? {} : JSON.parse(rest)).data ?? {};
  const { profile, mood, appearance, environment } = state;
  const own = { mood, appearance, environment, goals: textsOf(state.goals), desires: textsOf(state.desires) };
  const { nickname: _nickname, group_only_greetings: groupOnly, source, ...known } = before;
  const data = {
    creator_notes: '',
    alternate_greetings: [],
    tags: [],
    creator: '',
    character_version: '',
    ...known,
    name,
    description: state.description,
    personality: profile.personality,
    scenario: profile.scenario,
    first_mes: profile.greeting,
    mes_example: profile.examples,
    system_prompt: profile.instructions,
    post_history_instructions: profile.closing,
    extensions: { ...before.extensions, [OWN_EXTENSION]: own },
  };
  const card =
    version === 'v2'
      ? { spec: 'chara_card_v2', spec_version: '2.0', data }
      : {
          spec: 'chara_card_v3',
          spec_version: '3.0',
          data: { ...data, group_only_greetings: groupOnly ?? [], ...(source === undefined ? {} : { source }) },
        };
  return `${JSON.stringify(card, null, 2)}\n`;
}

/** What it came by in talk stays where that was. */
function textsOf(items: State['goals']): readonly string[] {
  return items.filter(({ origin }) => origin === null).map(({ text }) => text);
}
