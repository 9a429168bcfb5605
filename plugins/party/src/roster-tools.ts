import { type ToolDefinition, t, z } from '@cinnabar/sdk';
import {
  type Character,
  findCharacter,
  type Owner,
  type PartyOf,
  partyList,
  shown,
  withCharacter,
  withoutCharacter,
} from './characters.js';

const characterInput = z.object({
  name: z.string().describe("The character's name"),
  role: z.string().describe("The character's role (e.g., Solo, Netrunner, Fixer, Rockerboy, etc.)"),
  gear_preferences: z
    .array(z.string())
    .optional()
    .describe("Optional list of gear types the character prefers (e.g., 'Assault Rifles', 'Body Armor', 'Cyberware')"),
});

type Input = z.output<typeof characterInput>;

interface Added {
  /** The character with the name in the spelling of the party. */
  readonly character: Character;
  readonly isNew: boolean;
  readonly owner: Owner;
}

export function addPartyCharacter(partyOf: PartyOf): ToolDefinition<typeof characterInput, Added> {
  return {
    name: 'add_party_character',
    description:
      'Add a new character to the party or update an existing character. Requires character name and role. Gear preferences are optional.',
    input: characterInput,
    risk: 'write',
    examples: ADD_EXAMPLES,
    present: {
      sentence: ({ name }) => t("I'll add {name} to your party", { name }),
      said: ['name'],
      action: 'Add character to party roster',
      terminal: {
        program: 'PARTY_MANAGER',
        operation: 'ADD_CHARACTER',
        record: 'CHARACTER_DATA',
        keys: { gear_preferences: 'gear' },
      },
      labels: { name: 'Name', role: 'Role', gear_preferences: 'Gear Preferences' },
      async describe(said, { actor }) {
        const { document, owner } = await partyOf(actor);
        const { name, gear_preferences: gear } = said;
        const present = findCharacter((await document.get()).members, name);
        if (present === undefined) {
          return {
            sentence: t(
              "I'll add {name} to {owner, select, guild {this server's party} channel {this channel's party} other {your party}}",
              { name, owner },
            ),
            cancelled: t(
              "Cancelled adding {name} to {owner, select, guild {this server's party} channel {this channel's party} other {your party}}.",
              { name, owner },
            ),
            ...(gear === undefined ? { assumed: { gear_preferences: [] } } : {}),
          };
        }
        const changes = changesOf(present, said);
        return {
          sentence: t(
            "I'll change {name}: {changes} ({owner, select, guild {this server's party} channel {this channel's party} other {your party}})",
            {
              name: present.name,
              changes: changes.length === 0 ? t('nothing') : changes.join(', '),
              owner,
            },
          ),
          said: ['name', 'role'],
          action: t('Change character in party roster'),
          cancelled: t(
            "Cancelled changing {name} in {owner, select, guild {this server's party} channel {this channel's party} other {your party}}.",
            {
              name: present.name,
              owner,
            },
          ),
        };
      },
      success: (_, { character, isNew, owner }) => {
        const name = shown(character.name);
        return isNew
          ? t(
              "✓ {name} has been added to {owner, select, guild {this server's party} channel {this channel's party} other {your party}}!",
              { name, owner },
            )
          : t(
              "✓ {name} has been changed in {owner, select, guild {this server's party} channel {this channel's party} other {your party}}.",
              { name, owner },
            );
      },
      cancelled: ({ name }) => t('Cancelled adding {name} to your party.', { name }),
    },
    async check({ name }, { actor }) {
      await (await partyOf(actor)).assertMayChange(name);
    },
    async run({ name, role, gear_preferences: gear }, { actor }) {
      const { document, owner, assertMayChange } = await partyOf(actor);
      await assertMayChange(name);
      let isNew = false;
      const { members } = await document.update((party) => {
        isNew = findCharacter(party.members, name) === undefined;
        party.members = withCharacter(party.members, { name, role, gear }, owner === 'user' ? undefined : actor.userId);
      });
      const character = findCharacter(members, name) ?? { name, role, gear: [] };
      return { character, isNew, owner };
    },
  };
}

/** "role Solo → Netrunner" */
function changesOf(present: Character, { role, gear_preferences: gear }: Input): readonly string[] {
  const newGear = gear === undefined ? undefined : gear.join(', ') || t('None');
  const oldGear = present.gear.join(', ') || t('None');
  return [
    ...(role === present.role ? [] : [t('role {old} → {new}', { old: present.role, new: role })]),
    ...(newGear === undefined || newGear === oldGear
      ? []
      : [t('gear preferences {old} → {new}', { old: oldGear, new: newGear })]),
  ];
}

const JOINS = ["he's", "she's", "they're", 'he is', 'she is', 'they are', "it's", 'who is', "who's"].flatMap((is) => [
  `add {name} to my party, ${is} a {role}`,
  `add {name} to my party, ${is} an {role}`,
  `add {name} to the party, ${is} a {role}`,
]);
const LIKES = ["he's", "she's", "they're"].flatMap((is) =>
  [' who likes', ' who prefers', ' and likes', ' and prefers', ', likes', ', prefers', ' with', ' preferring'].map(
    (prefers) => `add {name} to my party, ${is} a {role}${prefers} {gear_preferences}`,
  ),
);
const ADD_EXAMPLES = [
  ...JOINS,
  ...LIKES,
  'add {name} to my party as a {role}',
  'add {name} to my party as an {role}',
  'add {name} to the party as a {role}',
  'add {name} to my party, a {role}',
  'add {name} to my party as a {role} who likes {gear_preferences}',
  'add {name} to my party as a {role} with {gear_preferences}',
  'add {name} the {role} to my party',
  'add {name}, a {role}, to my party',
  'add {name} ({role}) to my party',
  'add a {role} named {name} to my party',
  'add a {role} called {name} to my party',
  'put {name} in my party as a {role}',
  'recruit {name} as a {role}',
  '{name} joins my party as a {role}',
  '{name} joined my party as a {role}',
  '{name} is in my party now, as a {role}',
  'my new party member is {name}, a {role}',
  'update {name} in my party to a {role}',
  'update {name} in my party to a {role} who likes {gear_preferences}',
  'update {name}: role {role}, gear preferences {gear_preferences}',
  "change {name}'s role to {role}",
  'make {name} a {role}',
  '{name} is a {role} now',
];

const nameInput = z.object({ name: z.string().describe('The name of the character to remove') });

interface Removed {
  /** The name in the spelling of the party. */
  readonly name: string;
  readonly owner: Owner;
}

export function removePartyCharacter(partyOf: PartyOf): ToolDefinition<typeof nameInput, Removed> {
  return {
    name: 'remove_party_character',
    description: 'Remove a character from the party by name.',
    input: nameInput,
    risk: 'destructive',
    examples: REMOVE_EXAMPLES,
    present: {
      sentence: ({ name }) => t("I'll remove {name} from your party", { name }),
      said: ['name'],
      action: 'Remove character from party roster',
      terminal: { program: 'PARTY_MANAGER', operation: 'REMOVE_CHARACTER', record: 'CHARACTER_DATA' },
      labels: { name: 'Name' },
      async describe({ name }, { actor }) {
        const { owner } = await partyOf(actor);
        return {
          sentence: t(
            "I'll remove {name} from {owner, select, guild {this server's party} channel {this channel's party} other {your party}}",
            { name, owner },
          ),
          said: ['name'],
          cancelled: t(
            "Cancelled removing {name} from {owner, select, guild {this server's party} channel {this channel's party} other {your party}}.",
            { name, owner },
          ),
        };
      },
      success: (_, { name, owner }) =>
        t(
          "✓ {name} has been removed from {owner, select, guild {this server's party} channel {this channel's party} other {your party}}.",
          { name: shown(name), owner },
        ),
      cancelled: ({ name }) => t('Cancelled removing {name} from your party.', { name }),
    },
    async check({ name }, { actor }) {
      await (await partyOf(actor)).assertMayChange(name);
    },
    async run({ name }, { actor }) {
      const { document, owner, assertMayChange } = await partyOf(actor);
      await assertMayChange(name);
      let removed = name;
      await document.update((party) => {
        const { left, gone } = withoutCharacter(party.members, name);
        party.members = left;
        removed = gone.name;
      });
      return { name: removed, owner };
    },
  };
}

const REMOVE_EXAMPLES = [
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

interface Viewed {
  readonly members: readonly Character[];
  readonly owner: Owner;
}

export function viewPartyMembers(partyOf: PartyOf): ToolDefinition<z.ZodObject<Record<never, never>>, Viewed> {
  return {
    name: 'view_party_members',
    description: 'View all current party members with their roles and gear preferences.',
    input: z.object({}),
    risk: 'read',
    examples: VIEW_EXAMPLES,
    present: {
      sentence: () => t("I'll show the members of your party"),
      action: 'View party roster',
      terminal: { program: 'PARTY_MANAGER', operation: 'VIEW_MEMBERS', record: 'PARTY_DATA' },
      describe: async (_, { actor }) => ({
        sentence: t(
          "I'll show the members of {owner, select, guild {this server's party} channel {this channel's party} other {your party}}",
          { owner: (await partyOf(actor)).owner },
        ),
      }),
      success: (_, { members, owner }) => partyList(members, owner),
      cancelled: () => t('Cancelled viewing party members.'),
    },
    async run(_, { actor }) {
      const { document, owner } = await partyOf(actor);
      const { members } = await document.get();
      return { members, owner };
    },
  };
}

const VIEW_EXAMPLES = [
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
