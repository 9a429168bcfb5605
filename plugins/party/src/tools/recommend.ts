import { hasModel, type Llm, type ToolDefinition, UserError, z } from '@cinnabar/sdk';
import { askForDistribution } from '../gear/ask.js';
import { type Candidates, candidatesOf } from '../gear/candidates.js';
import type { Distribution } from '../gear/distribution.js';
import { recommendationText } from '../gear/text.js';
import type { PartyOf } from '../roster/owner.js';

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

/** @param llm `undefined` where no language model is running */
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
      sentence: () => "I'll recommend who in your party should get what",
      action: 'Recommend gear distribution',
      terminal: {
        program: 'PARTY_MANAGER',
        operation: 'RECOMMEND_GEAR',
        record: 'LOOT_DATA',
        keys: { loot_description: 'loot', excluded_characters: 'excluded' },
      },
      labels: { loot_description: 'Loot', excluded_characters: 'Excluded Characters' },
      describe: async (_, { actor }) => ({
        sentence: `I'll recommend who in ${(await partyOf(actor)).phrase} should get what`,
      }),
      success: (_, { distribution, candidates }) => recommendationText(distribution, candidates),
      cancelled: () => 'Cancelled gear recommendation.',
    },
    async run({ loot_description, excluded_characters }, { actor, signal }) {
      if (loot_description.trim() === '') throw new UserError('Tell me what the loot is.');
      const { document } = await partyOf(actor);
      const { members } = await document.get();
      const candidates = candidatesOf(members, excluded_characters);
      if (llm === undefined) {
        throw new UserError('I cannot recommend gear at the moment: that needs a language model, and none is running.');
      }
      const { characters } = candidates;
      const distribution = await askForDistribution(llm, { characters, lootDescription: loot_description, signal });
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
