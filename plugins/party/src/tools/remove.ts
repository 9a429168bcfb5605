import { type ToolDefinition, z } from '@cinnabar/sdk';
import { withoutCharacter } from '../roster/characters.js';
import { shown } from '../roster/names.js';
import type { PartyOf } from '../roster/owner.js';

const input = z.object({ name: z.string().describe('The name of the character to remove') });

interface Removed {
  /** As it was in the party. */
  readonly name: string;
  readonly party: string;
}

export function removePartyCharacter(partyOf: PartyOf): ToolDefinition<typeof input, Removed> {
  return {
    name: 'remove_party_character',
    description: 'Remove a character from the party by name.',
    input,
    risk: 'destructive',
    examples,
    present: {
      sentence: ({ name }) => `I'll remove ${name} from your party`,
      said: ['name'],
      action: 'Remove character from party roster',
      terminal: { program: 'PARTY_MANAGER', operation: 'REMOVE_CHARACTER', record: 'CHARACTER_DATA' },
      labels: { name: 'Name' },
      async describe({ name }, { actor }) {
        const { phrase } = await partyOf(actor);
        return {
          sentence: `I'll remove ${name} from ${phrase}`,
          said: ['name'],
          cancelled: `Cancelled removing ${name} from ${phrase}.`,
        };
      },
      success: (_, { name, party }) => `✓ ${shown(name)} has been removed from ${party}.`,
      cancelled: ({ name }) => `Cancelled removing ${name} from your party.`,
    },
    async check({ name }, { actor }) {
      await (await partyOf(actor)).assertMayChange(name);
    },
    async run({ name }, { actor }) {
      const { document, phrase, assertMayChange } = await partyOf(actor);
      await assertMayChange(name);
      let removed = name;
      await document.update((party) => {
        const { left, gone } = withoutCharacter(party.members, name);
        party.members = left;
        removed = gone.name;
      });
      return { name: removed, party: phrase };
    },
  };
}

const examples = [
  'remove {name} from my party',
  'remove {name} from the party',
  'kick {name} from my party',
  'kick {name} out of my party',
  'kick {name} from the party',
  'kick {name} out of the party',
  'drop {name} from my party',
  'delete {name} from my party',
  'take {name} out of my party',
  'throw {name} out of my party',
  'get rid of {name} in my party',
  '{name} left my party',
  '{name} left the party',
  '{name} is no longer in my party',
];
