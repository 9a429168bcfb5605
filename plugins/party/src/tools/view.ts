import { type ToolDefinition, z } from '@cinnabar/sdk';
import type { Character } from '../roster/characters.js';
import { partyList } from '../roster/list.js';
import type { PartyOf } from '../roster/owner.js';

const input = z.object({});

interface Viewed {
  readonly members: readonly Character[];
  readonly party: string;
}

export function viewPartyMembers(partyOf: PartyOf): ToolDefinition<typeof input, Viewed> {
  return {
    name: 'view_party_members',
    description: 'View all current party members with their roles and gear preferences.',
    input,
    risk: 'read',
    examples,
    present: {
      sentence: () => "I'll show the members of your party",
      action: 'View party roster',
      terminal: { program: 'PARTY_MANAGER', operation: 'VIEW_MEMBERS', record: 'PARTY_DATA' },
      describe: async (_, { actor }) => ({ sentence: `I'll show the members of ${(await partyOf(actor)).phrase}` }),
      success: (_, { members, party }) => partyList(members, party),
      cancelled: () => 'Cancelled viewing party members.',
    },
    async run(_, { actor }) {
      const { document, phrase } = await partyOf(actor);
      const { members } = await document.get();
      return { members, party: phrase };
    },
  };
}

const examples = [
  'who is in my party?',
  "who's in my party?",
  'who is in the party?',
  'who are my party members?',
  'who do I have in my party?',
  'show my party',
  'show me my party',
  'show the party',
  'show my party members',
  'list my party',
  'list my party members',
  'view my party',
  'view party members',
  'what does my party look like?',
  'tell me about my party',
];
