import { plainText, UserError, visible, z } from '@cinnabar/sdk';
import { distance } from 'fastest-levenshtein';

export const partySchema = z.object({
  members: z
    .array(
      z.object({
        name: z.string(),
        role: z.string(),
        gear: z.array(z.string()),
        /** The member who added it, in a party that several share. */
        addedBy: z.string().optional(),
      }),
    )
    .default([]),
});
export type Party = z.output<typeof partySchema>;
export type Character = Party['members'][number];

export const LIMITS = { members: 50, nameLength: 100, roleLength: 200, gear: 20, gearLength: 100 } as const;

export function findCharacter(members: readonly Character[], name: string): Character | undefined {
  const key = nameKey(name);
  return members.find((member) => nameKey(member.name) === key);
}

/** What is said about a character: nothing of its gear where it is left out. */
interface Said {
  readonly name: string;
  readonly role: string;
  readonly gear?: readonly string[] | undefined;
}

/** Adds a character, or changes what is said about the one of that name. @throws UserError when a limit is passed */
export function withCharacter(members: readonly Character[], said: Said, addedBy?: string): Character[] {
  const present = findCharacter(members, said.name);
  const { role, gear = present?.gear ?? [] } = said;
  const character = {
    ...(addedBy === undefined ? {} : { addedBy }),
    ...present,
    // Under its own name: a member who writes "jackie" does not mean to rename "Jackie".
    name: present?.name ?? said.name,
    role,
    gear: [...gear],
  };
  checkSize(character);
  if (present !== undefined) return members.map((member) => (member === present ? character : member));
  if (members.length >= LIMITS.members) {
    throw new UserError(`A party has at most ${LIMITS.members} members. Remove someone first.`);
  }
  return [...members, character];
}

/** @throws UserError when there is no such character; it names the nearest */
export function withoutCharacter(members: readonly Character[], name: string): { left: Character[]; gone: Character } {
  const gone = findCharacter(members, name);
  if (gone === undefined) throw new UserError(nobodyCalled(name, members));
  return { left: members.filter((member) => member !== gone), gone };
}

function nobodyCalled(name: string, members: readonly Character[]): string {
  if (members.length === 0) return 'There is nobody in the party, so there is nobody to remove.';
  const nearest = nearestName(
    name,
    members.map((member) => member.name),
  );
  const hint = nearest === undefined ? '' : ` Did you mean ${shown(nearest)}?`;
  return `There is nobody called ${shown(name)} in the party.${hint}`;
}

function checkSize({ name, role, gear }: Character): void {
  if (nameKey(name) === '') throw new UserError('A character needs a name that can be seen.');
  if (name.length > LIMITS.nameLength) {
    throw new UserError(`A character's name has at most ${LIMITS.nameLength} characters; this one has ${name.length}.`);
  }
  if (role.trim() === '') throw new UserError('A character needs a role.');
  if (role.length > LIMITS.roleLength) {
    throw new UserError(`A role has at most ${LIMITS.roleLength} characters; this one has ${role.length}.`);
  }
  if (gear.length > LIMITS.gear) {
    throw new UserError(`A character has at most ${LIMITS.gear} gear preferences; these are ${gear.length}.`);
  }
  if (gear.some((preference) => preference.length > LIMITS.gearLength)) {
    throw new UserError(`A gear preference has at most ${LIMITS.gearLength} characters.`);
  }
}

const INVISIBLE = /\p{Default_Ignorable_Code_Point}/gu;

/** Two names with one key are one character: case, width, accents' encoding, spacing and invisible characters do not tell them apart. */
export function nameKey(name: string): string {
  return name.normalize('NFKC').replace(INVISIBLE, '').replace(/\s+/gu, ' ').trim().toUpperCase().toLowerCase();
}

/** The closest of `names` to a mistyped one; `undefined` when none is close. */
function nearestName(name: string, names: readonly string[]): string | undefined {
  const key = nameKey(name);
  const allowed = Math.round(key.length * 0.4);
  const ranked = names
    .map((candidate) => ({ candidate, away: distance(key, nameKey(candidate)) }))
    .sort((a, b) => a.away - b.away);
  const best = ranked[0];
  return best !== undefined && best.away <= allowed ? best.candidate : undefined;
}

/** A typed text inside a message: nothing hidden, nothing taken for markup. */
export function shown(text: string): string {
  return plainText(visible(text));
}

/** "None" for an empty list, as on the confirmation card. */
function gearText(gear: readonly string[]): string {
  return gear.length === 0 ? 'None' : gear.map(shown).join(', ');
}

/** @param phrase whose party it is: "your party" */
export function partyList(members: readonly Character[], phrase: string): string {
  const whose = phrase.charAt(0).toUpperCase() + phrase.slice(1);
  if (members.length === 0) return `${whose} is empty. To add someone, say: Add V to my party, he's a Solo`;
  const lines = members.map(
    ({ name, role, gear }) => `• **${shown(name)}** – ${shown(role)} (Gear Preferences: ${gearText(gear)})`,
  );
  return [`👥 ${whose} (${members.length})`, ...lines].join('\n');
}
