import { hasModel, type Llm, type ToolDefinition, t, UserError, z } from '@cinnabar/sdk';
import { type Character, findCharacter, nameKey, type PartyOf, shown } from './characters.js';
import { askForDistribution, type Distribution } from './distribution.js';

const input = z.object({
  loot_description: z
    .string()
    .max(4_000)
    .describe(
      "Natural language description of the loot to distribute (e.g., 'Assault Rifle, Body Armor, Neural Processor' or 'We got 2 SMGs from the ganger')",
    ),
  excluded_characters: z
    .array(z.string())
    .default([])
    .describe('Optional list of character names to exclude from gear distribution'),
});

interface Recommended {
  readonly distribution: Distribution;
  readonly candidates: Candidates;
}

/** @param llm `undefined` if no language model is configured */
export function recommendGear(partyOf: PartyOf, llm: Llm | undefined): ToolDefinition<typeof input, Recommended> {
  return {
    name: 'recommend_gear',
    description:
      'Get AI-powered gear distribution recommendations for party members based on loot description. Accepts natural language descriptions of loot items.',
    input,
    risk: 'read',
    offered: () => hasModel(llm),
    examples,
    present: {
      sentence: () => t("I'll recommend who in your party should get what"),
      action: 'Recommend gear distribution',
      terminal: {
        program: 'PARTY_MANAGER',
        operation: 'RECOMMEND_GEAR',
        record: 'LOOT_DATA',
        keys: { loot_description: 'loot', excluded_characters: 'excluded' },
      },
      labels: { loot_description: 'Loot', excluded_characters: 'Excluded Characters' },
      describe: async (_, { actor }) => ({
        sentence: t(
          "I'll recommend who in {owner, select, guild {this server's party} channel {this channel's party} other {your party}} should get what",
          { owner: (await partyOf(actor)).owner },
        ),
      }),
      success: (_, { distribution, candidates }) => recommendationText(distribution, candidates),
      cancelled: () => t('Cancelled gear recommendation.'),
    },
    async run({ loot_description, excluded_characters }, { actor, callId, signal }) {
      if (loot_description.trim() === '') throw new UserError(t('Tell me what the loot is.'));
      const { document } = await partyOf(actor);
      const { members } = await document.get();
      const candidates = candidatesOf(members, excluded_characters);
      if (llm === undefined) {
        throw new UserError(
          t('I cannot recommend gear at the moment: that needs a language model, and none is running.'),
        );
      }
      const { characters } = candidates;
      const charge = { actor, responder: 'party', trigger: t('I was asked who should get which loot'), work: callId };
      const request = { characters, lootDescription: loot_description, charge, signal };
      const distribution = await askForDistribution(llm, request);
      return { distribution, candidates };
    },
  };
}

const examples = [
  'we got {loot_description}, who should get what?',
  'we got {loot_description}. who should get what?',
  'we got {loot_description}, who gets what?',
  'we found {loot_description}, who should get what?',
  'we found {loot_description}, who gets what?',
  'we looted {loot_description}, who should get what?',
  'we have {loot_description}, who should get what?',
  'who should get {loot_description}?',
  'who gets {loot_description}?',
  'who should get what of {loot_description}?',
  'distribute {loot_description}',
  'distribute {loot_description} among my party',
  'distribute {loot_description} among the party',
  'distribute {loot_description}, but not to {excluded_characters}',
  'distribute {loot_description} without {excluded_characters}',
  'distribute {loot_description} to everyone except {excluded_characters}',
  'we got {loot_description}, who should get what except {excluded_characters}?',
  'share out {loot_description}',
  'split {loot_description} among my party',
  'divide {loot_description} among my party',
  'recommend gear for {loot_description}',
  'recommend who gets {loot_description}',
  'recommend who gets {loot_description}, excluding {excluded_characters}',
];

interface Candidates {
  readonly characters: readonly Character[];
  /** Excluded names in the spelling of the party. */
  readonly excluded: readonly string[];
  /** Names to exclude that match no character. */
  readonly unknown: readonly string[];
}

/** @throws UserError if no character is left to receive anything */
function candidatesOf(members: readonly Character[], exclude: readonly string[]): Candidates {
  if (members.length === 0) throw new UserError(t('There is nobody in the party yet, so nobody can get anything.'));
  const found = exclude.map((name) => findCharacter(members, name));
  const characters = members.filter((member) => !found.includes(member));
  if (characters.length === 0) throw new UserError(t('Everyone in the party is excluded, so nobody can get anything.'));
  return {
    characters,
    excluded: members.filter((member) => found.includes(member)).map(({ name }) => name),
    unknown: exclude.filter((_, index) => found[index] === undefined),
  };
}

const LONGEST_REASON = 200;

/** The recommendations as a list by character, then the recipients and what was left out. */
function recommendationText(distribution: Distribution, candidates: Candidates): string {
  const lines = candidates.characters.map(({ name, role }) => {
    const things = distribution.assignments.filter(({ character }) => nameKey(character) === nameKey(name));
    const who = `**${shown(name)}** (${shown(role)})`;
    if (things.length === 0) return t('• {who}: nothing this time', { who });
    return [`• ${who}:`, ...things.map((thing) => `  - ${itemText(distribution, thing)}`)].join('\n');
  });
  return [t('🎒 Gear Recommendations'), ...lines, ...notes(distribution, candidates)].join('\n');
}

function itemText({ items }: Distribution, { item_id, reason }: Distribution['assignments'][number]): string {
  const { name = '', amount = 1 } = items.find(({ id }) => id === item_id) ?? {};
  const what = amount === 1 ? shown(name) : `${amount} × ${shown(name)}`;
  return reason.trim() === '' ? what : `${what} – ${shown(brief(reason))}`;
}

function notes({ not_loot }: Distribution, { excluded, unknown }: Candidates): string[] {
  const list = (names: readonly string[]) => names.map(shown).join(', ');
  return [
    ...(excluded.length > 0 ? [t('Excluded: {names}', { names: list(excluded) })] : []),
    ...(unknown.length > 0 ? [t('Not in the party, so not excluded: {names}', { names: list(unknown) })] : []),
    ...(not_loot.length > 0 ? [t('Not counted as loot: {things}', { things: list(not_loot) })] : []),
  ];
}

function brief(text: string): string {
  const characters = [...text.trim().replace(/\s+/gu, ' ')];
  return characters.length <= LONGEST_REASON ? characters.join('') : `${characters.slice(0, LONGEST_REASON).join('')}…`;
}
