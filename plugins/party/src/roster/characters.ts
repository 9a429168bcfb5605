import { UserError, z } from '@cinnabar/sdk';
import { nameKey, nearestName, shown } from './names.js';

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
export interface Said {
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
